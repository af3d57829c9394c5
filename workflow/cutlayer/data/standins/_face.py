"""A parametric face: many at once, each drawn from its row of CelebA's attributes.

Layers are painted one over the other, the background first. A layer is a color and a cover, how much of each pixel it
hides, found from the pixel's place on the face: u to the right, v down, the chin at v = 1, the eyes at u = -0.32 and
u = 0.32. Chances are drawn in the same order whatever the attributes are, so that another attribute changes its own
part of the picture and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

SIDE = 48  # pixels
HALF = 16.0  # pixels from the face's middle to its chin, on average
MARGIN = 6  # pixels by which shifts, turns and sizes may move a feature
AT_ONCE = 32  # faces; few enough for the cache of the processor
NOISE = 0.05  # standard deviation of a pixel, where 1 is white

Rgb = tuple[float, float, float]
Number = float | np.ndarray  # the same for all faces, or one for each (n, 1, 1)
Pair = tuple[Number, Number]  # across and down
Window = tuple[slice, slice]  # rows and columns of pixels


def portraits(has: Mapping[str, np.ndarray], draw: np.random.Generator) -> np.ndarray:
    """Draw faces (n, 3, SIDE, SIDE) uint8; `has` says of each attribute which of them (n,) bool have it."""
    n = len(next(iter(has.values())))
    images = np.empty((n, 3, SIDE, SIDE), np.uint8)
    for start in range(0, n, AT_ONCE):
        some = slice(start, start + AT_ONCE)
        face = Face({name: which[some] for name, which in has.items()}, draw)
        for layer in LAYERS:
            layer(face)
        images[some] = np.clip(255 * face.colors, 0, 255)
    return images


def window(left: float, top: float, right: float, bottom: float) -> Window:
    """The pixels that a part of the face may reach."""

    def pixels(start: float, stop: float) -> slice:
        middle = (SIDE - 1) / 2
        return slice(max(0, int(middle + HALF * start) - MARGIN), min(SIDE, int(middle + HALF * stop) + MARGIN + 1))

    return pixels(top, bottom), pixels(left, right)


ALL = (slice(None), slice(None))
EYES = window(-0.55, -0.45, 0.55, 0.05)
NOSE = window(-0.2, -0.1, 0.2, 0.3)
CHEEKS = window(-0.65, -0.05, 0.65, 0.45)
MOUTH = window(-0.42, 0.35, 0.42, 0.75)
LOWER = window(-0.8, 0.1, 0.8, 1.1)
UPPER = window(-1.1, -1.4, 1.1, 0.0)
EARS = window(-0.95, -0.25, 0.95, 0.45)
SIDES = window(-0.95, -0.4, 0.95, 1.2)
NECK = window(-1.5, 0.7, 1.5, 1.6)


class Face:
    """Some faces in the making: their colors (n, 3, SIDE, SIDE), attributes (n, 1, 1) and what chance gave them."""

    def __init__(self, has: Mapping[str, np.ndarray], draw: np.random.Generator) -> None:
        self._has, self._draw = has, draw
        self.n = len(next(iter(has.values())))
        self.colors = np.empty((self.n, 3, SIDE, SIDE), np.float32)
        self.u, self.v = self._places()
        self.skin, self.hair = self._skin(), self._hair()
        self.wide = 0.68 + 0.08 * self.chance() + 0.04 * self["Male"] + 0.1 * self["Chubby"] - 0.06 * self["Oval_Face"]
        self.inside = np.zeros_like(self.u)  # how far a pixel is within the face; known when the head is drawn
        self.long = (self.chance() < 0.85 - 0.78 * self["Male"]) * (1 - self["Bald"])
        smile = self.chance()  # overlaps: some faces are hard to tell
        self.smile = np.where(self["Smiling"] > 0, 0.2 + 0.8 * smile, 0.75 * smile - 0.4)

    def __getitem__(self, attribute: str) -> np.ndarray:
        """1 where a face has an attribute, else 0 (n, 1, 1)."""
        return self._has[attribute].astype(np.float32)[:, None, None]

    def chance(self, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """A number for each face (n, 1, 1), uniform between two."""
        return low + (high - low) * self._draw.random((self.n, 1, 1), np.float32)

    def color(self) -> np.ndarray:
        """A color for each face (n, 3, 1)."""
        return self._draw.random((self.n, 3, 1), np.float32)

    def normal(self, *shape: int) -> np.ndarray:
        """Standard normal numbers for each face (n, *shape)."""
        return self._draw.standard_normal((self.n, *shape), np.float32)

    def mix(self, first: Rgb | np.ndarray, second: Rgb | np.ndarray, share: np.ndarray) -> np.ndarray:
        """Colors (n, 3, 1) between two, `share` (n, 1, 1) of the second."""
        a, b = _columns(first), _columns(second)
        return a + share * (b - a)

    def paint(self, cover: np.ndarray, color: Rgb | np.ndarray, where: Window = ALL) -> None:
        """Lay a color over the pixels of a window, as far as `cover` (n, height, width) from 0 to 1 says."""
        under = self.colors[:, :, *where]
        under += cover[:, None] * (_columns(color)[..., None] - under)

    def ellipse(self, at: Pair, size: Pair, where: Window = ALL, both: bool = False) -> np.ndarray:
        """The cover of an ellipse around a point; of its mirror image too, if `both`."""
        u, v = self.u[:, *where], self.v[:, *where]
        across, down = ((abs(u) if both else u) - at[0]) / size[0], (v - at[1]) / size[1]
        return self.edge((1 - np.sqrt(across**2 + down**2)) * np.minimum(size[0], size[1]))

    def stroke(self, at: Pair, size: Pair, bend: Number = 0.0, where: Window = ALL, both: bool = False) -> np.ndarray:
        """The cover of a line across, half as long and thick as `size`; its ends are higher by `bend`."""
        u, v = self.u[:, *where], self.v[:, *where]
        across = ((abs(u) if both else u) - at[0]) / size[0]
        line = at[1] - bend * (across**2 - 0.33)
        return self.edge(size[1] - abs(v - line)) * self.edge((1 - abs(across)) * size[0])

    def edge(self, inside: np.ndarray) -> np.ndarray:
        """0 outside, 1 inside, in between where the distance to the edge is under half a pixel."""
        return np.clip(0.5 + HALF * inside, 0, 1)

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Each pixel's place on its face, which is shifted, turned and scaled."""
        axis = (np.arange(SIDE, dtype=np.float32) - (SIDE - 1) / 2) / HALF
        right, down = axis[None, None, :] - self.chance(-0.1, 0.1), axis[None, :, None] - self.chance(-0.1, 0.1)
        turn, size = self.chance(-0.14, 0.14), self.chance(0.92, 1.08)
        return (right * np.cos(turn) + down * np.sin(turn)) / size, (down * np.cos(turn) - right * np.sin(turn)) / size

    def _skin(self) -> np.ndarray:
        dark = self.chance() ** 2 * (1 - 0.9 * self["Pale_Skin"])
        pale = 0.5 * self["Pale_Skin"]
        return self.mix(self.mix((0.93, 0.74, 0.62), (0.42, 0.27, 0.19), dark), (1.0, 0.93, 0.9), pale)

    def _hair(self) -> np.ndarray:
        """The mean of the colors named; if none is, something between black and brown."""
        colors = {
            "Black_Hair": (0.08, 0.07, 0.07),
            "Brown_Hair": (0.36, 0.22, 0.12),
            "Blond_Hair": (0.86, 0.7, 0.42),
            "Gray_Hair": (0.66, 0.66, 0.68),
        }
        named = sum(self[name] for name in colors)
        total = sum(self[name] * _columns(color) for name, color in colors.items())
        other = self.mix(colors["Black_Hair"], colors["Brown_Hair"], self.chance())
        return np.where(named > 0, total / np.maximum(named, 1), other) * self.chance(0.85, 1.15)


def _columns(color: Rgb | np.ndarray) -> np.ndarray:
    """A color as (1, 3, 1), or colors as they are."""
    return color if isinstance(color, np.ndarray) else np.array(color, np.float32)[None, :, None]


def background(face: Face) -> None:
    """Two colors that run into each other."""
    first, second = face.color(), face.color()
    share = np.clip(0.5 + 0.3 * (face.u * face.chance(-1, 1) + face.v * face.chance(-1, 1)), 0, 1)
    face.colors[:] = (first + share.reshape(face.n, 1, -1) * (second - first)).reshape(face.colors.shape)


def hair_behind(face: Face) -> None:
    """What is seen of the hair around the face: to the shoulders where it is long."""
    wave = 0.06 * face["Wavy_Hair"] * (1 + np.sin(9 * face.v + face.chance(0, 6)))
    falling = 0.88 + 0.12 * np.clip(face.v + 0.3, 0, 1) + wave - abs(face.u)
    down = np.minimum(falling, np.minimum(1.3 - face.v, face.v + 0.25))
    cover = np.maximum(face.ellipse((0, -0.22), (0.88, 0.98)), face.edge(down) * face.long)
    face.paint(cover * (1 - face["Bald"]), face.hair)


def shoulders(face: Face) -> None:
    """Neck and clothes, a tie, a necklace."""
    cloth = face.color()
    u, v = face.u[:, *NECK], face.v[:, *NECK]
    face.paint(face.edge(0.36 + 0.1 * face["Male"] - abs(u)) * face.edge(v - 0.5), 0.82 * face.skin, NECK)
    face.paint(face.ellipse((0, 2.0), (1.3 + 0.3 * face["Male"], 0.85), NECK), cloth, NECK)
    tie = 0.6 * face.color()
    face.paint(face.edge(0.32 - abs(u)) * face.edge(v - 1.05) * face["Wearing_Necktie"], (0.95, 0.95, 0.95), NECK)
    face.paint(face.edge(0.11 - abs(u)) * face.edge(v - 1.08) * face["Wearing_Necktie"], tie, NECK)
    face.paint(face.stroke((0, 1.2), (0.4, 0.035), 0.2, NECK) * face["Wearing_Necklace"], (0.97, 0.93, 0.7), NECK)


def head(face: Face) -> None:
    """The face itself, and ears; men's jaws are squarer, attractive skin is less blotched."""
    ears = face.ellipse((face.wide, 0.0), (0.11, 0.2), EARS, True) * (1 - face.long)
    face.paint(ears, 0.88 * face.skin, EARS)
    across, down = face.u / face.wide, face.v
    square = face["Male"] * (down > 0) * 0.45 * across**2 * down**2
    face.inside = face.edge((1 - np.sqrt(np.maximum(across**2 + down**2 - square, 0))) * face.wide)
    face.paint(face.inside, face.skin)
    coarse = np.kron(face.normal(8, 8), np.ones((1, SIDE // 8, SIDE // 8), np.float32))
    face.colors += ((0.045 - 0.03 * face["Attractive"]) * coarse * face.inside)[:, None]


def age(face: Face) -> None:
    """Lines of the old, a double chin, bags under the eyes, cheeks."""
    old = 0.4 * (1 - face["Young"])
    for height in (-0.6, -0.5):
        face.paint(face.stroke((0, height), (0.4, 0.025), 0.03, UPPER) * old, 0.6 * face.skin, UPPER)
    face.paint(face.stroke((0.36, 0.33), (0.12, 0.03), -0.2, LOWER, True) * old, 0.6 * face.skin, LOWER)
    face.paint(face.stroke((0, 0.86), (0.35, 0.035), 0.12, LOWER) * 0.5 * face["Double_Chin"], 0.6 * face.skin, LOWER)
    bags = face.stroke((0.32, 0.06), (0.15, 0.03), 0.05, CHEEKS, True) * 0.5 * face["Bags_Under_Eyes"]
    face.paint(bags, 0.6 * face.skin, CHEEKS)
    blush = np.minimum(0.45 * face["Rosy_Cheeks"] + 0.2 * face["Heavy_Makeup"], 1)
    face.paint(face.ellipse((0.42, 0.28), (0.2, 0.14), CHEEKS, True) * blush, (0.95, 0.4, 0.42), CHEEKS)
    high = face.ellipse((0.43, 0.14), (0.15, 0.08), CHEEKS, True) * 0.5 * face["High_Cheekbones"]
    face.paint(high, np.minimum(1.2 * face.skin, 1), CHEEKS)


def beard(face: Face) -> None:
    """Around the mouth: all of it, or the chin, or above the lips, or a shadow."""
    u, v, inside = face.u[:, *LOWER], face.v[:, *LOWER], face.inside[:, *LOWER]
    low = face.edge(v - 0.5 + 0.55 * abs(u)) * inside
    dense = face.chance(0.6, 0.9)
    color = 0.8 * face.hair
    full = (1 - face["No_Beard"]) * (1 - np.maximum(face["Goatee"], face["Mustache"]))
    face.paint(low * 0.25 * face["5_o_Clock_Shadow"], (0.25, 0.25, 0.27), LOWER)
    face.paint(low * dense * full, color, LOWER)
    face.paint(face.ellipse((0, 0.8), (0.24, 0.24), LOWER) * dense * face["Goatee"], color, LOWER)
    face.paint(face.stroke((0, 0.36), (0.28, 0.06), -0.05, LOWER) * dense * face["Mustache"], color, LOWER)
    face.paint(face.edge(0.08 - abs(abs(u) - 0.66)) * face.edge(0.5 - v) * dense * face["Sideburns"], color, LOWER)


def eyes(face: Face) -> None:
    """White, iris, lid, brow; shadow and liner of make-up."""
    open_ = 0.1 * (1 - 0.4 * face["Narrow_Eyes"]) * (1 - 0.25 * np.maximum(face.smile, 0))
    iris = face.mix((0.2, 0.12, 0.06), (0.3, 0.45, 0.6), face.chance() ** 3)
    shade = face.mix((0.45, 0.25, 0.5), (0.3, 0.25, 0.25), face.chance())
    face.paint(face.ellipse((0.32, -0.2), (0.2, 0.11), EYES, True) * 0.6 * face["Heavy_Makeup"], shade, EYES)
    face.paint(face.ellipse((0.32, -0.12), (0.17, open_), EYES, True), (0.96, 0.95, 0.94), EYES)
    face.paint(face.ellipse((0.32, -0.12), (0.085, np.minimum(0.085, open_)), EYES, True), iris, EYES)
    lid = 0.022 + 0.03 * face["Heavy_Makeup"]
    face.paint(face.stroke((0.32, -0.12 - open_), (0.18, lid), -0.05, EYES, True) * 0.85, (0.1, 0.07, 0.06), EYES)
    thick = 0.03 + 0.035 * face["Bushy_Eyebrows"] + 0.012 * face["Male"]
    bend = -0.03 - 0.1 * face["Arched_Eyebrows"]
    face.paint(face.stroke((0.33, -0.36), (0.21, thick), bend, EYES, True) * 0.9, 0.6 * face.hair, EYES)


def nose(face: Face) -> None:
    """A shaded side, and a base with what is wide or pointed about it."""
    wide = 0.1 + 0.07 * face["Big_Nose"] - 0.03 * face["Pointy_Nose"]
    side = face.edge(0.03 - abs(face.u[:, *NOSE] - 0.5 * wide)) * face.edge(0.16 - abs(face.v[:, *NOSE] - 0.06))
    face.paint(side * 0.4, 0.65 * face.skin, NOSE)
    face.paint(face.ellipse((0, 0.22), (wide, 0.06 + 0.02 * face["Big_Nose"]), NOSE) * 0.7, 0.68 * face.skin, NOSE)


def mouth(face: Face) -> None:
    """Lips that a smile bends and widens; between them teeth, or the dark where nothing smiles."""
    u, v = face.u[:, *MOUTH], face.v[:, *MOUTH]
    smiles = np.maximum(face.smile, 0)
    across = u / (0.27 + 0.12 * smiles)
    line = 0.55 - 0.2 * face.smile * (across**2 - 0.33)
    taper = np.sqrt(np.maximum(1 - across**2, 0))
    gap = np.where(face["Mouth_Slightly_Open"] > 0, face.chance(0.04, 0.1), face.chance(0, 0.012)) * taper
    lip = (0.06 + 0.035 * face["Big_Lips"] + face.chance(0, 0.015)) * taper
    natural = face.mix(0.8 * face.skin, (0.72, 0.36, 0.36), face.chance(0.2, 0.6))
    stick = face.mix((0.78, 0.06, 0.16), (0.8, 0.25, 0.45), face.chance())
    color = face.mix(natural, stick, face["Wearing_Lipstick"] * face.chance(0.45, 1.0))
    off = abs(v - line)
    face.paint(face.edge(lip + gap - off) * (abs(across) < 1), color, MOUTH)
    between = face.mix((0.25, 0.07, 0.07), (0.97, 0.96, 0.93), np.clip(4 * face.smile, 0, 1))
    face.paint(face.edge(gap - off) * (abs(across) < 1), between, MOUTH)


def fringe(face: Face) -> None:
    """The hair over the forehead, lower with bangs, higher where it recedes; long hair falls over the sides."""
    u, v = face.u[:, *UPPER], face.v[:, *UPPER]
    hairline = -0.66 + 0.33 * face["Bangs"] - 0.16 * face["Receding_Hairline"] + face.chance(-0.05, 0.05)
    wave = 0.05 * face["Wavy_Hair"] * np.sin(11 * u + face.chance(0, 6)) - 0.04 * face["Straight_Hair"] * abs(u)
    over = face.ellipse((0, -0.2), (0.84, 0.95), UPPER)
    side = face.chance(-0.25, 0.25) * u
    front = face.edge(hairline + side + 0.5 * u**2 * (1 - face["Bangs"]) + wave - v)
    face.paint(front * over * (1 - face["Bald"]), face.hair, UPPER)
    u, v = abs(face.u[:, *SIDES]), face.v[:, *SIDES]
    strand = face.edge(u - 0.66 + 0.06 * v) * face.edge(0.88 - u) * face.edge(v + 0.3) * face.edge(1.1 - v)
    face.paint(strand * face.long, 0.93 * face.hair, SIDES)


def worn(face: Face) -> None:
    """Earrings, glasses, a hat."""
    rings = face.ellipse((0.8, 0.32), (0.07, 0.09), EARS, True) * face["Wearing_Earrings"]
    face.paint(rings, (1.0, 0.9, 0.45), EARS)
    clear = face.chance() < 0.85  # the others are for the sun
    outer, inner = (face.ellipse((0.33, -0.12), (0.25 + d, 0.2 + d), EYES, True) for d in (0.035, -0.035))
    rim = np.maximum(outer - inner * clear, face.stroke((0, -0.14), (0.1, 0.03), 0.0, EYES))
    face.paint(rim * face["Eyeglasses"] * 0.9, (0.08, 0.08, 0.1), EYES)
    cloth = face.color()
    u, v = face.u[:, *UPPER], face.v[:, *UPPER]
    crown = face.ellipse((0, -0.62), (0.9, 0.72), UPPER) * face.edge(-0.5 - v)
    brim = face.edge(0.07 - abs(v + 0.5)) * face.edge(1.08 - abs(u))
    face.paint(crown * face["Wearing_Hat"], cloth, UPPER)
    face.paint(brim * face["Wearing_Hat"], 0.7 * cloth, UPPER)


def photograph(face: Face) -> None:
    """Light from a side, more or less of it, a lens out of focus, noise."""
    slope = face.u * face.chance(-0.25, 0.25) + face.v * face.chance(-0.15, 0.15)
    face.colors *= (face.chance(0.8, 1.1) * (1 + slope))[:, None]
    blurry = face["Blurry"][:, 0, 0] > 0
    for axis in (2, 3):
        some = face.colors[blurry]
        face.colors[blurry] = (np.roll(some, 1, axis) + some + np.roll(some, -1, axis)) / 3
    face.colors += NOISE * face.normal(3, SIDE, SIDE)


LAYERS: tuple[Callable[[Face], None], ...] = (
    background, hair_behind, shoulders, head, age, beard, eyes, nose, mouth, fringe, worn, photograph,
)  # fmt: skip
