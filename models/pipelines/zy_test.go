package pipelines
import ("testing")
func TestZY(t *testing.T){
 g,_:=ReadTreebank("/work/shared/data/ewt/train.conllu"); d,_:=ReadTreebank("/work/shared/data/ewt/dev.conllu")
 c:=rulesOf(g)
 multiwordTable(g,c).write("/tmp/px/words.train"); multiwordTable(d,c).write("/tmp/px/words.dev")
}
