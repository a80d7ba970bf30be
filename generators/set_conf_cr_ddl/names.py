"""Invents conferences, tracks and titles of papers."""

from __future__ import annotations

import random
from collections.abc import Sequence

from mesocosm.generators.set_conf_cr_ddl.conferences import Conference
from mesocosm.kits.prose.names import slug

TRACKS = (
    "Main Track", "Short Papers Track", "Industry Track", "Demonstration Track", "Workshop Track",
    "Doctoral Symposium", "Poster Track", "Resource Track", "Late-Breaking Results Track",
    "Journal-First Track",
    "Student Research Track", "Reproducibility Track",
)  # fmt: skip
_ADJECTIVES = (
    "Adaptive", "Applied", "Autonomous", "Bayesian", "Behavioural", "Biomedical", "Causal", "Cognitive",
    "Collaborative", "Computational", "Cooperative", "Digital", "Distributed", "Dynamic", "Embedded",
    "Empirical", "Environmental", "Evolutionary", "Experimental", "Federated", "Formal", "Generative",
    "Global", "Human-Centred", "Hybrid", "Inclusive", "Integrated", "Intelligent", "Interactive",
    "Large-Scale", "Logical", "Mobile", "Molecular", "Multilingual", "Multimodal", "Neural", "Open",
    "Parallel", "Personal",
    "Predictive", "Probabilistic", "Quantitative", "Quantum", "Reliable", "Robust", "Scalable", "Secure",
    "Semantic", "Social", "Spatial", "Statistical", "Sustainable", "Symbolic", "Tactile", "Temporal",
    "Trustworthy", "Ubiquitous", "Urban", "Verified", "Virtual", "Visual", "Wireless",
)  # fmt: skip
_NOUNS = (
    "Agents", "Algorithms", "Analytics", "Animation", "Archives", "Audio", "Automation", "Bioinformatics",
    "Cartography", "Climate Models", "Communication", "Compilers", "Computing", "Control", "Cryptography",
    "Data Mining", "Databases", "Design", "Devices", "Diagnosis", "Dialogue", "Ecology", "Economics",
    "Education", "Energy Systems", "Ergonomics", "Forecasting", "Games", "Genomics", "Geometry", "Graphics",
    "Grids", "Haptics", "Health Informatics", "Hydrology", "Image Analysis", "Inference",
    "Information Retrieval",
    "Interfaces", "Knowledge", "Language", "Learning", "Libraries", "Linguistics", "Logistics", "Maintenance",
    "Manufacturing", "Mapping", "Materials", "Measurement", "Memory", "Microscopy", "Mobility", "Modelling",
    "Navigation", "Networks", "Optimisation", "Perception", "Photonics", "Planning", "Privacy", "Programming",
    "Reasoning", "Recognition", "Recommender Systems", "Robotics", "Scheduling", "Security", "Sensing",
    "Signal Processing", "Simulation", "Software", "Speech", "Storage", "Testing", "Translation", "Transport",
    "Vision", "Visualisation", "Web Science",
)  # fmt: skip
_KINDS = (
    ("International Conference on", "IC"), ("European Conference on", "EC"), ("Symposium on", "S"),
    ("International Symposium on", "IS"), ("Conference on", "C"), ("World Congress on", "WC"),
    ("Asian Conference on", "AC"), ("Annual Meeting on", "AM"), ("Nordic Conference on", "NC"),
    ("Joint Conference on", "JC"), ("Pacific Symposium on", "PS"), ("Winter Conference on", "WIN"),
)  # fmt: skip
ENDING = "example"
"""Of every host: reserved for what does not exist, so that nobody's real conference is among them."""
_TITLE_ADJECTIVES = (
    "Calibrated", "Cheap", "Compact", "Delayed", "Faithful", "Frugal", "Gentle", "Hidden", "Incremental",
    "Invariant", "Layered", "Lazy", "Local", "Noisy", "Patient", "Portable", "Quiet", "Rapid", "Sparse",
    "Stable", "Structured", "Stubborn", "Tiny", "Transparent", "Weighted",
)  # fmt: skip
_TITLE_NOUNS = (
    "Alignments", "Anchors", "Bounds", "Captions", "Certificates", "Contours", "Corpora", "Encoders",
    "Estimators", "Filters", "Gradients", "Heuristics", "Indexes", "Kernels", "Labels", "Lenses", "Maps",
    "Metrics", "Parsers", "Patches", "Priors", "Probes", "Sketches", "Surrogates", "Tours", "Traces", "Trees",
    "Tunings",
)  # fmt: skip
_TITLE_FIELDS = (
    "Bird Songs", "Bus Timetables", "Coastal Floods", "Court Records", "Crop Yields", "Drone Swarms",
    "Fermentation", "Glacier Photographs", "Handwritten Ledgers", "Heat Pumps", "Hospital Rotas",
    "Kitchen Robots", "Lip Reading", "Microgrids", "Moss Growth", "Museum Catalogues", "Peer Grading",
    "Pollen Counts", "Rail Freight", "River Gauges", "Sea Ice", "Sign Language", "Soil Cores", "Tide Tables",
    "Tree Rings", "Voice Menus", "Weather Radar", "Wildfire Smoke", "Wind Farms",
)  # fmt: skip
_LINKS = ("for", "for", "from", "in", "of", "without")


class Names:
    """Draws conferences, each with an acronym and a domain of its own, and titles of papers."""

    def __init__(self, rng: random.Random, size: int) -> None:
        """A pool of ``size`` conferences to draw from."""
        self._rng = rng
        self._topics: set[tuple[str, str, str]] = set()
        self._acronyms: set[str] = set()
        self._drawn: list[str] = []
        """Domains of conferences."""
        self._elsewhere: set[str] = set()
        """Domains that are no conference's."""
        self._titles: set[str] = set()
        self._pool = [self._invent() for _ in range(size)]
        self._rng.shuffle(self._pool)

    def continued(self, rng: random.Random) -> Names:
        """Names drawn from other dice, none of which occurs here."""
        further = Names(rng, 0)
        further._pool = list(self._pool)
        further._topics |= self._topics
        further._acronyms |= self._acronyms
        further._drawn += self._drawn
        further._titles |= self._titles
        further._elsewhere = self._elsewhere  # nobody's domain may become a conference's later
        return further

    def conference(self) -> Conference:
        """A conference not drawn before."""
        return self._pool.pop() if self._pool else self._invent()

    def university(self, place: str) -> str:
        """The domain of a university, which is cut to the length of some conference's."""
        conference = self._rng.choice(self._drawn).partition(".")[0]
        name = slug(place)[: len(conference)]
        while f"{name}.{ENDING}" in self._drawn:
            name += "u"
        domain = f"{name}.{ENDING}"
        self._elsewhere.add(domain)
        return domain

    def look_alike(self, of: Conference) -> str:
        """A domain that is nobody's and is easily taken for a conference's."""
        acronym = of.acronym.lower()
        ways = [f"{acronym}{acronym[-1]}", f"{acronym}s", f"{acronym[:-2]}{acronym[:-3:-1]}", f"{acronym}c"]
        self._rng.shuffle(ways)
        taken = self._elsewhere.union(self._drawn)
        domains = (f"{way}.{ENDING}" for way in (*ways, f"{acronym}{acronym}"))
        domain = next(domain for domain in domains if domain not in taken)
        self._elsewhere.add(domain)
        return domain

    def twin(self, of: Conference) -> Conference:
        """Another conference on the same topic, whose acronym is easily taken for the first one's."""
        for _ in range(20):
            kind = self._rng.choice(_KINDS)
            if (kind[0], *of.topic) not in self._topics:
                return self._named(kind, of.topic)
        return self.conference()

    def title(self) -> str:
        """The title of a paper; no two are the same."""
        rng = self._rng
        while True:
            title = (
                f"{rng.choice(_TITLE_ADJECTIVES)} {rng.choice(_TITLE_NOUNS)} "
                f"{rng.choice(_LINKS)} {rng.choice(_TITLE_FIELDS)}"
            )
            if title not in self._titles:
                self._titles.add(title)
                return title

    def _invent(self) -> Conference:
        while True:
            kind = self._rng.choice(_KINDS)
            topic = (self._rng.choice(_ADJECTIVES), self._rng.choice(_NOUNS))
            if (kind[0], *topic) not in self._topics:
                return self._named(kind, topic)

    def _named(self, kind: tuple[str, str], topic: tuple[str, str]) -> Conference:
        self._topics.add((kind[0], *topic))
        acronym = self._acronym(kind[1], topic)
        self._acronyms.add(acronym)
        domain = f"{acronym.lower()}.{ENDING}"
        self._drawn.append(domain)
        return Conference(acronym, f"{kind[0]} {topic[0]} {topic[1]}", domain, topic)

    def _acronym(self, start: str, topic: Sequence[str]) -> str:
        """The shortest of the usual ways to make one that nobody else has taken."""
        adjective, noun = (word.replace(" ", "").replace("-", "").upper() for word in topic)
        initials = "".join(part[0] for part in topic[1].split())
        candidates = [start + adjective[0] + initials, start + adjective[0] + noun[:2]]
        for long in range(2, 7):
            candidates += [start + adjective[:long] + noun[0], start + adjective[:long] + noun[:long]]
        candidates = [
            name
            for name in candidates
            if len(name) > 2
            and name not in self._acronyms
            and f"{name.lower()}.{ENDING}" not in self._elsewhere
        ]
        return candidates[0] if candidates else f"{start}{adjective}{noun}{len(self._acronyms)}"
