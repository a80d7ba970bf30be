"""Documents of the applicant: one life, told consistently by transcripts, letters and plans."""

from __future__ import annotations

import datetime as dt
import random
from dataclasses import dataclass
from dataclasses import field as having

from mesocosm.kits.prose import CourseSubject


@dataclass(frozen=True)
class Field:
    """Something that can be studied."""

    name: str
    thesis: str
    """The subject of the Master's thesis."""
    question: str
    """The question of the PhD."""
    methods: tuple[str, str, str]
    courses: tuple[str, str, str, str, str, str]
    topics: tuple[str, ...]
    """Research topics of this field, as used mid-sentence."""
    approaches: tuple[str, ...]
    """Relations to a topic, if it is not all of it."""

    def subject(self, rng: random.Random) -> CourseSubject:
        """The field for somebody who writes about it: some of its topics, each approached in some way."""
        topics = tuple(
            rng.choice(self.approaches) + topic if rng.random() < _APPROACHED else topic
            for topic in rng.sample(self.topics, _TOPICS_OF_ONE)
        )
        return CourseSubject("", 0, self.name, self.name, "", topics)


_TOPICS_OF_ONE = 6
"""Topics that one person works on or cares about."""
_APPROACHED = 0.6
"""The share of the topics that are approached in some way."""
_FIELDS = (
    Field(
        "Environmental Science", "how storms move sediment in small rivers",
        "whether gauges that are read every minute tell a flood from a mere rise of the river",
        ("turbidity sensors", "sediment traps", "mixed models in R"),
        ("Hydrology", "Soil Science", "Statistics", "Field Methods", "Remote Sensing", "Water Chemistry"),
        ("sediment transport", "flood plains", "turbidity", "groundwater", "soil erosion", "peat bogs",
         "river restoration", "nitrate in streams", "droughts", "heavy rain", "estuaries", "dams"),
        ("models of ", "field studies of ", "the statistics of ", "the monitoring of ", "new data on ",
         "remote sensing of ", "case studies of ", "early work on "),
    ),
    Field(
        "Computational Linguistics", "how speakers of two languages order their adjectives",
        "why parsers fail where speakers change languages within a sentence",
        ("annotated corpora", "dependency parsers", "eye tracking"),
        ("Syntax", "Phonetics", "Machine Learning", "Corpus Linguistics", "Logic", "Psycholinguistics"),
        ("code-switching", "word order", "dependency parsing", "speech errors", "sign languages",
         "loan words", "reading times", "vowel harmony", "dialect maps", "machine translation",
         "tone", "child language"),
        ("models of ", "theories of ", "corpus studies of ", "the statistics of ", "new data on ",
         "the annotation of ", "case studies of ", "early work on "),
    ),
    Field(
        "Materials Physics", "cracks in thin films of oxide",
        "how cracks in thin films begin, and what heals them",
        ("electron microscopy", "X-ray diffraction", "finite elements"),
        ("Solid State Physics", "Thermodynamics", "Optics", "Numerical Methods", "Metals", "Surface Science"),
        ("thin films", "grain boundaries", "crack growth", "fatigue", "nanowires", "oxide layers", "coatings",
         "thermal stress", "dislocations", "glass transitions", "sintering", "porous ceramics"),
        ("models of ", "simulations of ", "the physics of ", "measurements of ", "new data on ",
         "theories of ", "experiments with ", "early work on "),
    ),
    Field(
        "Behavioural Biology", "songs that young birds learn from their neighbours",
        "how far a new song travels from where it was first sung",
        ("sound recorders", "playback experiments", "network models"),
        ("Ethology", "Genetics", "Ecology", "Biostatistics", "Evolution", "Neurobiology"),
        ("song learning", "alarm calls", "nest building", "foraging", "mate choice", "migration", "play",
         "begging calls", "flocking", "brood parasites", "tool use", "social learning"),
        ("models of ", "field studies of ", "the evolution of ", "the neurobiology of ", "new data on ",
         "theories of ", "experiments with ", "early work on "),
    ),
    Field(
        "Economic History", "the account books of three harbour towns",
        "how news of a failed harvest changed what merchants charged",
        ("port books", "price series", "ships' registers"),
        ("Economic Theory", "Palaeography", "Statistics", "Trade and Empire", "Archive Studies", "Finance"),
        ("grain prices", "harbour dues", "merchant letters", "guilds", "marine insurance", "harvest failures",
         "account books", "coinage", "shipbuilding", "toll registers", "credit networks", "wages"),
        ("the history of ", "the study of ", "the geography of ", "new sources on ", "recent books on ",
         "the politics of ", "theories of ", "early work on "),
    ),
    Field(
        "Robotics", "grippers that feel how heavy a thing is",
        "how a robot arm learns from people who correct it by hand",
        ("force sensors", "simulations", "user studies"),
        ("Control", "Mechanics", "Computer Vision", "Real-Time Systems", "Machine Learning", "Ergonomics"),
        ("grasping", "tactile sensing", "learning by demonstration", "soft grippers", "path planning",
         "force control", "shared autonomy", "walking machines", "calibration", "teleoperation",
         "motor control", "collision avoidance"),
        ("models of ", "simulations of ", "the mathematics of ", "user studies of ", "new data on ",
         "benchmarks for ", "experiments with ", "early work on "),
    ),
)  # fmt: skip
_HELD = (
    "tutored first-year students", "looked after the equipment of the laboratory", "ran the reading group",
    "prepared the exercises of a lecture", "worked at the help desk of the library",
)  # fmt: skip
_ELSEWHERE = (
    "an internship of three months", "a summer school", "a term abroad", "voluntary work in a museum",
    "a workshop for young researchers",
)  # fmt: skip
_LANGUAGES = ("English, German", "English, French", "English, Spanish", "English, Dutch")
_REFEREES = 2
_PRAISE = (
    "{first} was among the best in my course {course}.",
    "I have known {first} for two years, first in {course}.",
    "{first} handed in work in {course} that I have since shown to others.",
)
_SKILL = (
    "What I value most is the care that {first} takes with {method}.",
    "{first} taught the rest of us how to work with {method}.",
    "Nobody in the group knows more about {method}.",
)
_VERDICT = (
    "I recommend {first} for a doctorate without reservation.",
    "I should take {first} as a doctoral student myself if I had a place.",
    "{first} is ready for a PhD, and I say so gladly.",
)


@dataclass
class Papers:
    """Writes the texts of one applicant's documents, in lines."""

    name: str
    college: str
    field: Field
    today: dt.date
    rng: random.Random
    elsewhere: str
    """The time before the Master's course, as every version of the curriculum vitae tells it."""
    _purposes: list[str] = having(default_factory=list)
    _praised: list[str] = having(default_factory=list)
    """Courses of which referees speak: the marks in these were good."""

    @classmethod
    def of(cls, name: str, college: str, today: dt.date, rng: random.Random) -> Papers:
        """Of somebody who studies one of the fields, drawn."""
        papers = cls(name, college, rng.choice(_FIELDS), today, rng, rng.choice(_ELSEWHERE))
        papers._praised = rng.sample(papers.field.courses, _REFEREES)
        return papers

    @property
    def first(self) -> str:
        """The applicant's first name."""
        return self.name.split(" ", 1)[0]

    def life(self, written: dt.date) -> list[str]:
        """The first page of a curriculum vitae as it was on a day."""
        began = self.today.year - 6
        lines = [f"{began}-{began + 3}: Bachelor's degree in {self.field.name}, {self.college}"]
        lines.append(f"Since {began + 4}: Master's course, {self.college}")
        if (self.today - written).days < 300:
            lines.append(f"{began + 5}: {self.rng.choice(_HELD)}")
        return [*lines, f"{began + 3}: {self.elsewhere}"]

    def skills(self) -> list[str]:
        """The second page of a curriculum vitae."""
        return [f"Methods: {', '.join(self.field.methods)}", f"Languages: {self.rng.choice(_LANGUAGES)}"]

    def purpose(self) -> str:
        """A statement of purpose, put in another way in every version."""
        method = self.rng.choice(self.field.methods)
        ways = (
            f"I want to find out {self.field.question}, with the help of {method}.",
            f"In a doctorate I should like to ask {self.field.question}, for which {method} will be of use.",
            f"What I should like to find out in a PhD is {self.field.question}.",
        )
        if not self._purposes:
            self._purposes = self.rng.sample(ways, len(ways))
        return self._purposes.pop()

    def summary(self) -> str:
        """The first page of a research proposal."""
        return (
            f"The project asks {self.field.question}. It starts from my Master's thesis about "
            f"{self.field.thesis}."
        )

    def work_plan(self) -> list[str]:
        """The second page of a research proposal."""
        one, two, _ = self.rng.sample(self.field.methods, 3)
        return [f"Year 1: {one}", f"Later: {two}, writing"]

    def courses(self, *, master: bool) -> list[str]:
        """Return the courses of a degree with marks."""
        courses = self.rng.sample(self.field.courses, len(self.field.courses) - 2 * master)
        taken = [f"Advanced {course}" for course in courses] if master else courses
        worst = dict.fromkeys(self._praised, 14)
        marks = [f"{course}: {self.rng.randint(10, worst.get(course, 29)) / 10:.1f}" for course in taken]
        return ["Marks from 1.0 (best) to 4.0", *marks]

    def praises(self) -> list[str]:
        """Return the referees' praise, each of something different."""
        rng = self.rng
        openings, closings = rng.sample(_PRAISE, _REFEREES), rng.sample((*_SKILL, *_VERDICT), _REFEREES)
        courses, methods = self._praised, rng.sample(self.field.methods, _REFEREES)
        return [
            f"{opening} {closing}".format(first=self.first, course=course, method=method)
            for opening, closing, course, method in zip(openings, closings, courses, methods, strict=True)
        ]
