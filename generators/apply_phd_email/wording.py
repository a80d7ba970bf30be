"""Wording of professors' mails: a dozen ways for each statement, valid or not."""

from __future__ import annotations

DOCUMENTS = {
    "cv": ("your CV", "your curriculum vitae", "an up-to-date CV", "the CV as it is now"),
    "statement": ("your statement of purpose", "the statement of purpose", "a statement of purpose"),
    "english": ("[your|the|an] English test certificate",),
    "proposal": ("your complete research proposal", "all pages of your research proposal"),
    "proposal_summary": (
        "[only|just|no more than] the first page of your research proposal",
        "the first page (no more) of your research proposal",
        "[your|the] research proposal's first page [alone|and no more|(no other)]",
    ),
    "bachelor": (
        "[your|the] Bachelor's transcript", "[the|a] transcript [of|for] your Bachelor's degree",
        "your marks [for|in] the Bachelor's degree (the transcript)",
    ),
    "master": (
        "[your|the] Master's transcript", "[the|a] transcript [of|for] your Master's degree",
        "your marks [for|in] the Master's degree (the transcript)",
    ),
    "first_letter": (
        "the letter [of|from|by] your first referee", "[the|your] first referee's letter",
        "what your first referee [wrote|writes]",
    ),
    "second_letter": (
        "the letter [of|from|by] your second referee", "[the|your] second referee's letter",
        "what your second referee [wrote|writes]",
    ),
    "awards_oldest_first": (
        "all [the |your |]award certificates (oldest first)", "[your|the] award certificates, oldest first",
    ),
    "awards_newest_first": (
        "all [the |your |]award certificates (newest first)", "[your|the] award certificates, newest first",
    ),
}  # fmt: skip
BEGINS = ("begins with", "starts with", "first has", "opens with")
GOES_ON = ("goes on with", "continues with", "then has", "next has")
ENDS = ("ends there", "has nothing else", "stops there", "is complete with that")
HOLDS = ("holds", "contains", "is made of", "has", "consists of")
OFFER = (
    "your profile fits [our project|our work|our group|what we do] [well|very well|better than most]",
    "I could offer you a [PhD|doctoral] place[| in my group| from next term]",
    "a [PhD|doctoral] position is [open|free|to be filled] [here|with us|in my group]",
    "you could [start|begin] [a doctorate|a PhD|your thesis] with [us|me]",
    "I can [well |]imagine supervising your [thesis|PhD|doctorate]",
    "the [department|faculty|dean|institute] would let me take [one more|another] [doctoral|PhD] student",
    "what you wrote about your [plans|thesis|interests] [convinced me|has convinced me|speaks for you]",
    "there is [room|a desk|money] for you in the [group|project|department]",
    "I showed your letter to [a colleague|the others|my co-supervisor], and we want to go on",
    "our graduate school [has noticed your letter|would consider you|could take you]",
    "yes, I [would|will|can] take on [somebody|a student] with your [interests|background|plans]",
    "the [topic|question|work] that you [propose|describe] would suit a [thesis|doctorate|PhD] here",
    "[I have|we have] [a funded place|one place left] for a [PhD|doctorate], and it may be yours",
    "a [doctorate|PhD|thesis] on what you [describe|have in mind] is [possible|welcome] [here|with us]",
)
OTHER_OFFER = (
    "I have no place for a thesis; {position} is [open|free|on offer]",
    "a PhD is out of the question, [while|but] {position} could be [yours|had]",
    "instead of a doctorate I [can|could] offer [you |]{position}",
    "what I [could give|can offer] you is {position}, not a thesis",
    "[the|all] doctoral places are taken, so [let us talk about|think of|I offer you] {position}",
    "[as long as|while|since] [there is|we have|I have] no money for a PhD, you [might|could|may] take "
    "{position}",
    "would {position} [interest|suit] you? A doctorate is not possible [here|with us|now]",
    "for the PhD I cannot [help|do much]; {position} I [can|could] give",
    "[the|about the|perhaps the] only thing that is free with us [is|would be] {position}",
    "my [proposal|offer] is {position}, as theses are closed to [newcomers|outsiders|others]",
    "{position} [would|may|might] suit you [much |]better than a PhD, which [we|I] [do not|cannot] "
    "[offer|give]",
    "we [can|could] put you down for {position}, [and|so] this is what I mean here",
)
POSITIONS = (
    "the job of a research assistant", "a place in our summer school", "a Master's scholarship",
    "a post as a teaching assistant", "an internship in the lab", "the job of a field assistant",
    "a travel grant for visitors", "a seat in the spring workshop", "a post as a laboratory technician",
    "a language course for guests",
)  # fmt: skip
NEED = (
    "please send me",
    "I need",
    "send",
    "the committee asks for",
    "for your file I want",
    "what I [should like|want] to have is",
    "what I [have to|must] ask [you for|for] is",
    "you might let me have",
    "kindly mail",
    "we ask everybody for",
    "let me have",
    "the rules call for",
    "before we [go on|decide], I [should like|want] to see",
    "what we look at first is",
    "for a start, mail me",
    "our forms ask for",
)
"""A list of files follows."""
FOR_LATER = (
    "if a [place|position] [ever|one day] [opens|comes up|becomes free], you would [be asked for|need|have "
    "to send]",
    "[if|when|once] there is a [place|position] [one day|again], our [forms|rules] [will ask you for|want]",
    "should there be a [call|place|position] [later|later on|one day], you [would need|would send|should "
    "have]",
    "not now, but [once|when|if] I can take [somebody|people|students], I [would|shall] [ask you for|want]",
    "nothing is needed [today|now|this year]; [at|for] a later [call|round] it would be",
    "if you [try|ask|write] again in another [year|round], [have ready|bring|send]",
    "whenever our next [call|round] comes, it will [ask you for|call for|want]",
    "for [a call in another year|another year|a call in another round], our [rules|forms] [name|list|want]",
    "if I [ever write|write|do write] again about a [place|position], it will be [to ask for|about]",
    "do not send it [now|yet], but a later [application|call|round] would [take|need|want]",
    "what you would be asked for, [if ever|as soon as|when] a [place|position] is [free|open], is",
    "for a [call|round] that is not open [yet|so far], you could [think of|prepare|plan]",
    "the next time [that there|there] is a [call|place|position], you would [hand in|send|need]",
)
"""A list of files follows that nobody is to send: said by those who refuse or have not decided."""
REPLACED = (
    "the files on my [first|earlier] list [were|are] wrong; [please disregard|forget] them. Instead I need",
    "the [committee|faculty] has new rules for the same place. Instead of [what I listed|my list] before, "
    "send",
    "forget the files [that I named|I named|listed] in my [last|other] mail and [send|mail] instead",
    "the files [that I|I] [asked for|named] [the other day|before] are out of date. Now it is",
    "I [got the files of two lists mixed up|mixed up two lists]. For what we [talked|wrote] about, the "
    "right one is",
    "[please|kindly] do not make the files of my [first|last] mail. Make",
    "the list you have [from me|here] is [an old one|outdated]. The [present|valid] one for the same place "
    "is",
    "our forms [have changed|are new], so what replaces my [earlier|old|first] list is",
    "[scratch|drop] the [earlier|first] list[| of files]. In its place I [want|need]",
    "[the secretary|somebody] [tells me|says] that my list was last year's. This year's is",
    "let me start again with [the|my] list of files, since the [old|first] one is void. What counts is",
    "rather than the files [that I named|named|I listed] before, we want",
    "there were [mistakes|errors] in my [list of files|list]. Corrected, it is",
)
ADDED = (
    "in addition to my [first|short] list, I [need|want]",
    "besides what I [asked for|named] [already|before], send",
    "my list [was not|is not] complete. Add to it",
    "on top of the file [that I|I] named, there [should be|is]",
    "to what you [have|got] [from me already|from me], please add",
    "I forgot [half|a part] of [the|my] list. Beside the first file I [want|need]",
    "in addition, [one more thing|something else] belongs to what my [last|first] mail asked for, namely",
    "keep what I listed, and add",
    "together with the file of my [first|last] mail, also send",
    "the [committee|board] also wants, beside the first file,",
    "there is a [second|further] part [to|of] my list. To the first one, please add",
    "please add to your mail, [apart from|beside] what I [named|asked for],",
)
MORE_TO_COME = (
    "what else I need I [will|shall] [tell you|say] in a [second|further] mail",
    "there will be [another mail|a mail] with the rest of [the|my] list",
    "the second part of the list follows",
    "more will be asked [for|of you] in [a few|some] days",
    "wait for my [next|second] mail, which [has|names] the rest",
    "this is not all: I [shall|will] write [again|once more] about the [rest|others]",
    "I shall name the rest [later|soon]",
    "the rest of the list [has to wait|waits] for [a colleague|the secretary|the dean]",
    "expect a [second|further] mail [about|with] what is missing here",
    "do not send it yet, as [half|a part] of [the|my] list is [still|yet] to come",
    "my next mail will complete the list",
    "[a second list|another list] will follow",
)
ALL_TOGETHER = (
    "all of it in one mail, please",
    "please put everything into one mail",
    "one mail with all the files will do",
    "do not send two mails for this",
    "let it all come [together|to us] in one mail",
    "a single mail with [all of it|everything] is best",
    "I want it all in the same mail",
    "what belongs to both lists [goes into|makes] one mail",
    "one mail is enough for both lists",
    "please send all the files at once",
    "our [system|office] takes one mail [for|from] each applicant, so send [all|everything] at once",
    "both lists make one mail",
)
DEADLINE = (
    "the deadline is {day}",
    "I need it by {day}",
    "[everything|all of it] [has to|must] be here by {day}",
    "[the|our] list is closed [at the end of|after|on the evening of] {day}",
    "{day} is the last day for this",
    "we accept material until {day}",
    "let me have it no later than {day}",
    "you have until {day}",
    "after {day} nothing [is accepted|will be read]",
    "all files must reach us by {day}",
    "it will be read if it [comes|is here|arrives] by {day}",
    "our [office|secretary] takes in what is here by {day}",
    "{day} is [as late as|the latest that] it [may|can] [come|arrive]",
)
EXTENDED = (
    "we have more time than I wrote",
    "the committee meets [later|some weeks later] than planned",
    "there is a new date for the same [material|files]",
    "the date [that I gave you|I gave you|of my mail] has been [moved|changed]",
    "you [are given|have] more time",
    "the office has [changed|moved] the date",
    "I was too strict about the date",
    "the faculty has put everything off",
    "[good news about|about|as to] the date: it is not as near as I [wrote|said]",
    "the date in my [first|last] mail no longer holds",
    "my [colleagues|students] asked for more time, so you get it[ as well| too|]",
    "nothing will be decided as [early|soon] as I [thought|wrote]",
)
SAME_FILES = (
    "what I asked for [stays|remains] the same",
    "the list [remains|stays] as it was",
    "nothing else changes",
    "the files are those of my [first|last] mail",
    "only the date is new",
    "all the rest is as I wrote",
    "the material itself [is the same|does not change]",
    "[as for the files,|about the files,] see my [first|last] mail",
    "the files do not change",
    "[please keep|keep] to the list [that you have|of my first mail]",
    "everything else holds[| as before]",
    "send what I listed, just later if you [like|want]",
)
REOPENED = (
    "a place [has become free|is free] after all, so [please forget|forget] my [refusal|first answer]",
    "I said no, and now I can say yes",
    "my refusal no longer holds, since a grant [has come through|came]",
    "[somebody|a student] gave up a place, and I [think|thought] of you in spite of what I wrote "
    "[first|before]",
    "please forget the no of my first mail",
    "the [dean|board] has given us [one more|another] place, so I take my [refusal|no] back",
    "what I [wrote|said] about having nothing [free|open] is no longer true",
    "contrary to my [first|old] answer there is a place [now|again]",
    "my first answer was [too hasty|wrong], and it is not a refusal [any more|now]",
    "since I turned you down, [a student has left|the budget has grown], so I can ask you after all",
    "you had a refusal from me, which I withdraw",
    "things have [changed|moved] since my refusal, and for the better",
)
FOR_GOOD = (
    "I do not supervise any more theses",
    "I [shall retire|retire|leave] [before you could finish|soon|next year], [so|and] it has to be a no",
)
"""Words after which nobody asks another time."""
NO = (
    "I cannot take on [anybody|new students][ this year|]",
    "there is no [vacancy|place|desk] in my group",
    "I have no open position",
    "my group is full[, I am afraid|]",
    "[the|our|my] [funding|grant|money] [was cut|has run out|ends], [so|and] nothing can come of this",
    "somebody else has got the place",
    "[the|our] project [has been|was|will be] stopped, [and|so] no place is left",
    "I am sorry to say no",
    "please look elsewhere, [as|for] I cannot help [you|here]",
    *FOR_GOOD,
    "it [will not|does not] work out [with us|here], so please send nothing",
    "the [board|dean|committee] did not let me have a place[ for you| this time|]",
    "we [must|have to] do without new people [for some time|this year|now]",
)
"""Said by those who never asked for anything, and by those who take back that they did."""
UNDECIDED = (
    "[no decision has been made|nothing has been settled] [so far|yet]; [keep|hold on to] your papers",
    "[next month|in some weeks|in a few weeks] I can tell you more, not [today|now|yet]",
    "there may be something [later|later on|next term]; [hold|keep] your [papers|files|material]",
    "[patience, please|please be patient]: [the grant|our budget|the board] [needs longer|takes its time]",
    "it is [too early|too soon] to [say|tell]; send nothing [before|until] I [write again|write|know]",
    "[our|the|my] [grant|budget|project] is not [decided|settled], so [please wait|wait] with your "
    "[material|files|papers]",
    "I [am still waiting|still wait] for [money|the money|a grant] and [will|shall] write when I know more",
    "[ask me|write] again in [some months|a few weeks], for [now|the moment] I [do not|cannot] know",
    "the [committee|board|faculty] has not met [yet|so far], so keep your [material|papers|files] until it "
    "[has|does]",
    "I [shall|have to|want to] talk to the [dean|others|board] first; [nothing is needed|wait] until then",
    "let me think [about it|it over] [for some weeks|for a while]; send nothing [yet|now]",
    "a place is [possible|not certain]; [hold|keep] your [papers|files|material] [back|ready]",
)
AWAY = (
    "[this is an|an] automatic reply[| of the system| to all mail]: I am [away|travelling|on leave] until "
    "{day}",
    "automatic reply: back on {day}",
    "I am on leave until {day} and this answer is automatic",
    "out of office until {day}; nobody has read your mail yet",
)
AWAY_RULES = (
    "[Your mail will be read|I shall answer] when I am back",
    "For urgent matters ask the secretary",
    "PhD applicants usually send CV and transcripts[|, but not to this address]",
    "[Forms for|All about] a doctorate: see the graduate school",
    "PhD applications [need|contain|begin with] a CV",
    "Your mail is not forwarded",
)
AIDE = (
    "do not [send|mail] it to me, but to my [assistant|colleague] {name}, {email}",
    "{name} ({email}) collects everything for me: write there and not to me",
    "mail it to {email}, where {name} looks after applications, and not to [my own address|me]",
    "it should go to {name} at {email}, since my own mailbox is full",
    "my own address is not for this: [please write|write|mail] to {email} ({name})",
    "the one to write to is {name}, {email}, instead of me",
    "address it to {name}, our secretary, at {email}; I do not want it myself",
    "for this, use the address {email} of {name}, not mine",
)
LETTERS = (
    "Enquiry about a PhD position",
    "Doctoral studies in your group",
    "PhD application",
    "A possible thesis with you",
    "Question about a doctorate",
    "PhD supervision",
    "Places for doctoral students",
    "A PhD in your group?",
    "Looking for a PhD position",
    "Asking about a doctorate",
    "Doctoral place in your group",
    "A thesis under your supervision",
)
"""Subjects of what the applicant wrote first."""
ANEW = (
    "Your letter", "Your enquiry", "About your letter", "Your plans", "What you asked me", "To your enquiry",
    "Your question", "News", "A word on your enquiry", "From our group",
)  # fmt: skip
"""Subjects of what professors write without answering a mail."""
