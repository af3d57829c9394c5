"""The cut of cnn moves layers between the parties and changes nothing that the whole network computes."""

from __future__ import annotations

import pytest
import torch

from cutlayer.core.seeds import generator
from cutlayer.games.base.model import Inputs
from cutlayer.plan import plugins

IMAGES = Inputs(shape=[3, 12, 9], numeric=[], categorical=[], scale=255.0)
LAYERS = {"first_pool": ["first"], "second_pool": ["first", "second"], "linear": ["first", "second", "last"]}


def parts(cut):
    model = plugins.create("model", "cnn", {"cut": cut, "channels": 4, "width": 6})
    return model, model.bottom(IMAGES), model.top(IMAGES, 5)


@pytest.mark.parametrize("cut", list(LAYERS))
def test_a_cut_elsewhere_leaves_the_network_as_it_is(cut):
    model, bottom, top = parts(cut)
    assert [name for name, _ in bottom.named_children()] == LAYERS[cut]
    images = generator("cut").integers(0, 256, (7, 3, 12, 9)).astype("uint8")
    x = model.encode(images, IMAGES)
    _, bottom_of_all, top_of_all = parts("linear")
    bottom_of_all.first.load_state_dict(bottom.first.state_dict())
    bottom_of_all.second.load_state_dict((bottom.second or top.second).state_dict())
    bottom_of_all.last.load_state_dict((bottom.last or top.linear).state_dict())
    top_of_all.load_state_dict(
        {name: value for name, value in top.state_dict().items() if name in top_of_all.state_dict()}
    )
    first, embedding = bottom(x)
    assert embedding.ndim == 2
    torch.testing.assert_close(first, bottom_of_all(x)[0])
    torch.testing.assert_close(top(embedding, x), top_of_all(bottom_of_all(x)[1], x))
