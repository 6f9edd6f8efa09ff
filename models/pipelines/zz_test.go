package pipelines
import ("testing";"os";"fmt";"context";"strings";"time";"github.com/dsp-go/dsp/models")
func TestZZ(t *testing.T){
 p:=&Pipeline{stages: map[string]*part{}}
 for _,n:=range strings.Fields(os.Getenv("STAGES")) { m,err:=models.Load("/tmp/pp/ewt/"+n); if err!=nil{t.Fatal(err)}; p.stages[n]=&part{model:m} }
 for _,d:=range []string{"dev","test"} {
 g,err:=ReadTreebank("/work/shared/data/ewt/"+d+".conllu"); if err!=nil{t.Fatal(err)}
 b:=time.Now()
 for _,gold:=range []bool{false,true}{
 r,err:=p.Evaluate(context.Background(),g,d,EvaluateOptions{GoldWords:gold,Threads:1}); if err!=nil{t.Fatal(err)}
 fmt.Println(d,gold,time.Since(b)); fmt.Print(r.Table()) }
 }
}
