"""dsp.torch.to_onnx: in onnxruntime the joined graph gives what torch and dsp give."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("onnxscript")
runtime = pytest.importorskip("onnxruntime")

import dsp
import dsp.torch as D

pytestmark = pytest.mark.filterwarnings("ignore:::torch", "ignore:_check_is_size", "ignore:You are using the legacy")
torch.manual_seed(0)
Y = 5


class Tagger(torch.nn.Module):
    """Words to emissions by a BiLSTM, or without it."""

    def __init__(self, batch_first=True, recurrent=True):
        super().__init__()
        self.embed = torch.nn.Embedding(20, 8)
        self.lstm = torch.nn.LSTM(8, 4, batch_first=batch_first, bidirectional=True) if recurrent else None
        self.linear = torch.nn.Linear(8, Y)

    def forward(self, words):
        x = self.embed(words)
        return 3 * self.linear(self.lstm(x)[0] if self.lstm else x)


class Masked(Tagger):
    """A network that reads the mask itself, and drops rows in training."""

    def forward(self, words, mask):
        return 3 * torch.nn.functional.dropout(self.linear(self.embed(words) * mask[:, :, None]), training=self.training)


class Steps(torch.nn.Module):
    """Node and edge potentials per position, or shared by all."""

    def __init__(self, per_position):
        super().__init__()
        self.node, self.steps, self.shared = torch.nn.Embedding(20, Y), torch.nn.Embedding(20, Y * Y), torch.nn.Parameter(torch.randn(Y, Y))
        self.per_position = per_position

    def forward(self, words):
        B, T = words.shape
        return self.node(words), self.steps(words).reshape(B, T, Y, Y) if self.per_position else self.shared * 1


def sequences(B, T):
    """Words and a ragged mask, of which one example has all positions."""
    lengths = torch.randint(1, T + 1, (B,))
    lengths[0] = T
    return torch.randint(20, (B, T)), torch.arange(T) < lengths[:, None]


def asked(graph, **inputs):
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {k: x.numpy() for k, x in inputs.items()})


def check(graph, chain, **inputs):
    labels, score, marginals = asked(graph, **inputs)
    np.testing.assert_array_equal(labels, chain.argmax)
    np.testing.assert_allclose(score, chain.max.detach(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(marginals, chain.marginals[0].detach(), atol=2e-6)


def crf(**settings):
    x = D.CRF(Y, **settings)
    for p in x.parameters():
        torch.nn.init.normal_(p)
    return x


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_crf(recurrent, batch_first):
    network, layer = Tagger(batch_first, recurrent), crf(batch_first=batch_first, any_mask=True)
    turn = (lambda x: x) if batch_first else (lambda x: x.T.contiguous())
    graph = D.to_onnx(network, layer, (turn(sequences(3, 7)[0]),), marginals=True)
    for B, T in (3, 7), (1, 1), (1, 9), (6, 2), (8, 150):
        words, mask = sequences(B, T)
        holes = torch.rand(B, T) < 0.6
        holes[-1] = False  # an example without positions
        for kept in mask, holes, torch.ones(B, T, dtype=torch.bool):
            with torch.no_grad():
                emissions = network(turn(words))
            check(graph, layer.distribution(emissions, turn(kept)), words=turn(words), mask=turn(kept))


def test_network_reads_the_mask(tmp_path):
    network, layer = Masked(recurrent=False), crf(batch_first=True)
    words, mask = sequences(3, 7)
    graph = D.to_onnx(network, layer, (words, mask), tmp_path / "model.onnx", marginals=True, input_names=["words", "kept"], mask="kept")
    assert network.training
    assert (tmp_path / "model.onnx").read_bytes() == graph.SerializeToString()
    assert [x.name for x in graph.graph.input] == ["words", "kept"]
    assert [[d.dim_param for d in x.type.tensor_type.shape.dim] for x in graph.graph.input] == [["batch", "time"]] * 2
    words, mask = sequences(5, 4)
    network.eval()
    with torch.no_grad():
        check(graph, layer.distribution(network(words, mask), mask), words=words, kept=mask)


@pytest.mark.parametrize("per_position", [False, True])
def test_chains(per_position):
    network = Steps(per_position)
    graph = D.to_onnx(network, D.LinearChain, (sequences(3, 7)[0],), marginals=True)
    words, mask = sequences(4, 6)
    mask[1] = torch.tensor([0, 1, 0, 1, 1, 0])
    with torch.no_grad():
        check(graph, D.LinearChain(*network(words), mask=mask), words=words, mask=mask)


def test_refused():
    words = sequences(3, 7)[0]
    with pytest.raises(dsp.Error, match="DependencyTree has no decoding graph"):
        D.to_onnx(Tagger(), D.DependencyTree, (words,))
    with pytest.raises(dsp.Error, match="emissions of 5 tags, and the CRF has 4"):
        D.to_onnx(Tagger(), D.CRF(4, batch_first=True), (words,))
    with pytest.raises(dsp.Error, match="3 sequences of 3 positions"):
        D.to_onnx(Tagger(), crf(batch_first=True), (words[:, :3],))
    with pytest.raises(dsp.Error, match="opset 17"):
        D.to_onnx(Tagger(recurrent=False), crf(batch_first=True), (words,), dynamo=False, opset_version=17)
