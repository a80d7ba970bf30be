"""Wording of conferences on papers and deadlines: a dozen ways for each statement; ``[this|that]`` is a
choice.
"""

from __future__ import annotations

ACCEPTED = (
    "we are happy to tell you that {paper} has been accepted for the {track} of {label}",
    "[congratulations|good news]: {paper} has been accepted to the {track} of {label}",
    "the committee of the {track} of {label} has decided to accept {paper}",
    "{paper} is among the accepted papers of the {track} at {label}",
    "the {track} of {label} will include {paper}",
    "we look forward to {paper} in the {track} of {label}: it is accepted",
    "the reviews of {paper} were good, and the {track} of {label} takes it",
    "it is a pleasure to accept {paper} for the {track} of {label}",
    "{paper} has a place in the {track} of {label}",
    "the [programme|schedule] of the {track} of {label} has a slot for {paper}, which was accepted",
    "after the meeting of its committee, the {track} of {label} accepts {paper}",
    "{paper} has made it: accepted at {label} ({track})",
)
REJECTED = (
    "we are sorry to tell you that {paper} has not been accepted for the {track} of {label}",
    "the {track} of {label} could not find room for {paper}",
    "after much discussion, {paper} has been rejected by the {track} of {label}",
    "{paper} is not among the accepted papers of the {track} at {label}",
    "[unfortunately|to our regret], the {track} of {label} will not include {paper}",
    "the committee of the {track} of {label} has decided against {paper}",
    "we cannot accept {paper} for the {track} of {label}",
    "the reviews of {paper} were mixed, and the {track} of {label} does not take it",
    "there is no place for {paper} in the {track} of {label}",
    "we regret that {paper} was turned down by the {track} of {label}",
    "the {track} of {label} had to decline {paper}",
    "it was close, but {paper} did not make it into the {track} of {label}",
)
WITHDRAWN = (
    "as its authors asked, {paper} has been withdrawn from the {track} of {label}",
    "we confirm that {paper} has been withdrawn from {label} ({track})",
    "{paper} is withdrawn, as you wished, and no longer part of the {track} of {label}",
    "at your request we have taken {paper} out of the {track} of {label}",
    "the withdrawal of {paper} from the {track} of {label} is complete",
    "we are sorry to lose {paper}: it is no longer in the {track} of {label}",
    "the {track} of {label} has removed {paper}, as you asked",
    "{paper} will not appear at {label} ({track}), as its authors decided",
    "we have noted that you withdraw {paper} from the {track} of {label}",
    "as agreed with you, {paper} has left the {track} of {label}",
    "following your letter, {paper} is struck from the {track} of {label}",
    "your request is granted: {paper} is out of the {track} of {label}",
)
RECEIVED = (
    "we have received the [camera-ready|final] version of {paper} for the {track} of {label}",
    "the [camera-ready|final] version of {paper} has been received by {label} ({track}), complete",
    "thank you for the [camera-ready|final] version of {paper}; the {track} of {label} has all it needs",
    "the camera-ready files of {paper} have arrived and are in order ({label}, {track})",
    "the publisher has taken over the [camera-ready|final] version of {paper} for the {track} of {label}",
    "the [camera-ready|final] version of {paper} is with us, and nothing is missing for the {track} of"
    " {label}",
    "the camera-ready version of {paper} has been checked and filed for {label} ({track})",
    "we hold the complete camera-ready version of {paper} for the {track} of {label}",
    "the upload for {paper} went well: the [camera-ready|final] version is in the {track} of {label}",
    "the proceedings of {label} ({track}) now contain the final version of {paper}",
    "nothing more is needed for {paper} ({label}, {track}): its camera-ready version is here",
    "we can confirm the receipt of the [camera-ready|final] version of {paper} for the {track} of {label}",
)
TOLD_LATER = (
    "you will hear about the camera-ready version in a mail of its own",
    "instructions for the [camera-ready|final] version follow separately",
    "a second mail will say what we need for the [camera-ready|final] version",
    "what to do about the camera-ready version comes in another mail",
    "all about the [camera-ready|final] version is sent to everybody in one go, soon",
    "we write to all authors about the [camera-ready|final] version at once",
    "as to the [camera-ready|final] version, please wait for our next mail",
    "the details of the camera-ready version are in a mail that you get separately",
    "for the [camera-ready|final] version there will be instructions for everybody",
    "look out for a mail about camera-ready versions",
    "the next mail from us is about the [camera-ready|final] version",
    "please do not ask about the camera-ready version yet: you will be told",
)
UNKNOWN_YET = (
    "the deadline for the camera-ready version has not been fixed yet; we will announce it",
    "camera-ready deadline: to be announced",
    "when the camera-ready version is due will be published as soon as the printer confirms",
    "we cannot say yet when the [camera-ready|final] version is due",
    "the publisher has not told us when it wants the [camera-ready|final] version",
    "the date for the [camera-ready|final] version is still open",
    "no deadline for the camera-ready version has been set so far",
    "for the [camera-ready|final] version there is no date yet",
    "as soon as there is a deadline for the [camera-ready|final] version, you will know it",
    "we are still talking to the printer about the date of the camera-ready version",
    "the camera-ready version has no deadline for the moment",
    "by when we need the [camera-ready|final] version is undecided",
)
DEADLINE = (
    "please upload the [camera-ready|final] version no later than {when}",
    "the [camera-ready|final] version is due {when}",
    "we need the [camera-ready|final] version of your paper by {when}",
    "the deadline for the [camera-ready|final] version is {when}",
    "camera-ready files will be taken until {when}",
    "uploads of the [camera-ready|final] version close at this moment: {when}",
    "you can send us the [camera-ready|final] version until {when}",
    "for the [camera-ready|final] version you have until {when}",
    "your [camera-ready|final] version should reach us by {when}",
    "the publisher expects the [camera-ready|final] version by {when}",
    "make sure that the [camera-ready|final] version is in the system by {when}",
    "we collect [camera-ready|final] versions until {when}",
)
TO_ALL = (
    "this goes to all authors of accepted papers in the {track} of {label}, whose"
    " [camera-ready|final] versions are due {when}",
    "for accepted papers of {label} ({track}), the camera-ready deadline is {when}",
    "all authors in the {track} of {label} are asked for their [camera-ready|final] version by {when}",
    "the {track} of {label} takes camera-ready versions until {when}",
    "in the {track} of {label}, the [camera-ready|final] version of each accepted paper is due {when}",
    "{label} ({track}): please upload your [camera-ready|final] version no later than {when}",
    "[camera-ready|final] versions for the {track} of {label} are wanted by {when}",
    "whoever has an accepted paper in the {track} of {label} sends the [camera-ready|final] version by"
    " {when}",
    "the deadline for [camera-ready|final] versions in the {track} of {label} is {when}",
    "we collect the [camera-ready|final] versions of the {track} of {label} until {when}",
    "every author of the {track} at {label} has until {when} for the [camera-ready|final] version",
    "the publisher expects the [camera-ready|final] versions of the {track} of {label} by {when}",
)
EXTENDED = (
    "the camera-ready deadline of {scope} has been extended to {new}",
    "for {scope}, camera-ready versions will be taken until {new}, instead of {old}",
    "good news for {scope}: the [camera-ready|final] version may arrive as late as {new}",
    "authors of {scope} have more time: the [camera-ready|final] version is now due {new}",
    "the [camera-ready|final] version for {scope} is no longer due {old}, but {new}",
    "we give {scope} until {new} for the [camera-ready|final] version",
    "many of you asked for it: the camera-ready deadline of {scope} is now {new}",
    "the printer can wait, so [camera-ready|final] versions of {scope} are taken until {new}",
    "instead of {old}, the [camera-ready|final] version for {scope} is due {new}",
    "we have moved the camera-ready deadline of {scope} from {old} to {new}",
    "the [camera-ready|final] version for {scope} can now be uploaded until {new}",
    "there is more time in {scope}: [camera-ready|final] versions by {new}, not {old}",
)
BY_DAYS = (
    "the camera-ready deadline of {scope} is extended by exactly {days}; the time of the day stays the same",
    "we give {scope} {days} more for the [camera-ready|final] version, at the same time of the day",
    "add {days} to the camera-ready deadline of {scope}; the hour stays as it was",
    "the camera-ready deadline of {scope} is put off by {days}, to the same hour",
    "authors of {scope} get {days} more for the [camera-ready|final] version; the hour does not change",
    "the [camera-ready|final] version for {scope} is due {days} later than we last wrote, at the same hour",
    "take {days} more for the [camera-ready|final] version in {scope}; the time of the day remains",
    "whatever we wrote last of the [camera-ready|final] version, {scope} has {days} more, to the hour",
    "the camera-ready deadline of {scope} is now {days} later, with the hour unchanged",
    "the publisher grants {days} more for [camera-ready|final] versions of {scope}, at the same hour",
    "in {scope} the [camera-ready|final] version may come {days} later, at the hour that we named",
    "you may take {days} longer for the [camera-ready|final] version in {scope}, up to the same hour",
)
CORRECTED = (
    "our earlier mail had the wrong date: the camera-ready deadline of {scope} is {new}, not {old}",
    "we are sorry for a mistake: the [camera-ready|final] version for {scope} is due {new}",
    "erratum: the [camera-ready|final] version for {scope} is due {new}, not {old}",
    "please correct the camera-ready deadline of {scope} in your notes: it is {new}",
    "we mixed up two dates: [camera-ready|final] versions for {scope} are due {new}",
    "a slip of the pen: not {old}, but {new} is the camera-ready deadline of {scope}",
    "what we wrote of the [camera-ready|final] version for {scope} was wrong, for it is due {new}",
    "[camera-ready|final] versions for {scope} are due {new}; the date in our last mail was a typing error",
    "somebody copied the wrong line: the [camera-ready|final] version for {scope} is due {new}",
    "the camera-ready deadline of {scope} reads {new}, not {old}; we apologise",
    "several of you noticed it: the right camera-ready deadline of {scope} is {new}",
    "we named a wrong day, and the [camera-ready|final] version for {scope} is in fact due {new}",
)
ZONE = (
    "we gave the wrong time zone: the camera-ready deadline of {scope} is {new}",
    "the [camera-ready|final] version for {scope} is due {new}; our earlier mail had a wrong zone",
    "the day was right, but not the zone: [camera-ready|final] versions for {scope} are due {new}",
    "by which clock? The camera-ready deadline of {scope} is {new}",
    "the clock that we named was the wrong one, and the camera-ready deadline of {scope} is {new}",
    "several of you asked about the zone: the [camera-ready|final] version for {scope} is due {new}",
    "please mind the zone, which was wrong: [camera-ready|final] versions for {scope} by {new}",
    "the camera-ready deadline of {scope} was given by another clock; it is {new}",
    "correct is: [camera-ready|final] version for {scope} due {new}, by this clock and no other",
    "our system showed the zone of its own server, while the camera-ready deadline of {scope} is {new}",
    "the publisher's clock counts: [camera-ready|final] versions for {scope} are due {new}",
    "wrong zone, same day: the [camera-ready|final] version for {scope} is due {new}",
)
FORWARD = (
    "for the printer's sake, the camera-ready deadline of {scope} moves up to {new}",
    "unfortunately, camera-ready versions for {scope} are now due {new}, instead of {old}",
    "the printer closes early, so the [camera-ready|final] version for {scope} is due {new}",
    "we have to ask {scope} for the [camera-ready|final] version sooner: by {new}",
    "there is less time than we thought: [camera-ready|final] versions for {scope} by {new}, not {old}",
    "the camera-ready deadline of {scope} had to be brought forward from {old} to {new}",
    "please hurry, for the [camera-ready|final] version in {scope} is now due {new}",
    "the publisher wants everything earlier: [camera-ready|final] versions of {scope} are due {new}",
    "instead of {old}, we need the [camera-ready|final] version for {scope} by {new}",
    "because of a holiday, the camera-ready deadline of {scope} is {new} already",
    "we can wait no longer than {new} for [camera-ready|final] versions of {scope}",
    "the [camera-ready|final] version for {scope} is wanted earlier, namely by {new}",
)
SUSPENDED = (
    "the camera-ready deadline of the {track} no longer holds; a new one will be announced",
    "we have suspended the camera-ready deadline of the {track} until further notice",
    "please forget the camera-ready deadline of the {track}: we do not have a new one yet",
    "the date for [camera-ready|final] versions in the {track} is void, and the next one is not known",
    "until we write again, there is no deadline for [camera-ready|final] versions of the {track}",
    "the camera-ready deadline of the {track} is off, since {label} is changing its publisher",
    "we have cancelled the date for the [camera-ready|final] version in the {track} and set none instead",
    "nobody knows at present when the [camera-ready|final] version for the {track} will be wanted",
    "the {track} has no camera-ready deadline any more; you will hear when there is one",
    "do not go by the date that we gave the {track} for the [camera-ready|final] version, wait for another",
    "what we wrote of the camera-ready deadline of the {track} is no longer true, and nothing replaces it",
    "with the printer gone, the camera-ready deadline of the {track} is open again",
)
REMINDER = (
    "this is an automatic reminder of the {label} submission system: the [camera-ready|final] version of"
    " paper {number} ({track}) is due {when}",
    "automatic reminder for the {track} of {label}: the [camera-ready|final] version of paper {number} is"
    " due {when}",
    "our system sends automatic reminders, and this one says that paper {number} ({label}, {track}) has"
    " {when} as its camera-ready deadline",
    "automatic reminder: {label} ({track}) waits for the [camera-ready|final] version of paper {number} until"
    " {when}",
    "you get this automatic reminder for paper {number} in the {track} of {label}, whose"
    " [camera-ready|final] version is due {when}",
    "paper {number}, {track} of {label}: this automatic reminder names {when} as the deadline of the"
    " [camera-ready|final] version",
    "nobody wrote this automatic reminder: camera-ready deadline of paper {number} ({label}, {track}) {when}",
    "as an automatic reminder for {label}, {track}: please send the [camera-ready|final] version of paper"
    " {number} by {when}",
    "an automatic reminder to the authors of paper {number} ({track} of {label}): final files by {when}, for"
    " the camera-ready version",
    "the {label} system has you down for an automatic reminder: paper {number} ({track}), camera-ready"
    " version, {when}",
    "automatic reminder to whom it concerns at {label}: paper {number} in the {track} has a camera-ready"
    " deadline, {when}",
    "do not answer this automatic reminder: the [camera-ready|final] version of paper {number} ({label},"
    " {track}) is due {when}",
)
SUBJECTS = (
    "{label}",
    "News from {label}",
    "{label}: for authors",
    "{label} ({track})",
    "{label} update",
    "About {label}",
    "{label}: please read",
    "From the {label} chairs",
    "{label}, {track}",
    "{label}: a note",
    "{label}: what comes next",
    "Your contribution to {label}",
)
PAPER_SUBJECTS = (
    "{label}: paper {number}",
    "Your paper at {label}",
    "{label}, paper {number}",
    "{label}: about paper {number}",
    "Paper {number} ({label})",
    "{label} ({track}): paper {number}",
)
ELSEWHERE = (
    "{label} invites papers for its {track} until {when}",
    "the {track} of {label} reads abstracts until {when}",
    "proposals for the {track} of {label} reach us until {when}",
    "{label} is cheaper if you register by {when}",
    "registration for {label} closes {when}",
    "until {when}, {label} offers its early rate",
    "rooms can be booked together with {label} until {when}",
    "whoever wants to chair a session of {label} tells us by {when}",
    "demonstrations for {label} can be proposed until {when}",
    "the call for the {track} of {label} is open until {when}",
    "reviewers of the {track} at {label} have until {when}",
    "travel grants for {label} can be asked for until {when}",
)
"""Sentences about dates, and about nobody's paper."""
