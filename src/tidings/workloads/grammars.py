"""Grammars that documents are drawn from: for each element its children, its attributes, and whether it has text.

`XMARK` is the auction site of the XMark benchmark; `NEWS` has the shape of NITF: a deep head, blocks of paragraphs, and
marked-up words that nest."""

from __future__ import annotations

Grammar = dict[str, tuple[str, str]]  # children and attributes, by blanks

XMARK: Grammar = {
    "site": ("regions categories people open_auctions closed_auctions", ""),
    "regions": ("africa asia europe namerica samerica", ""),
    **dict.fromkeys(("africa", "asia", "europe", "namerica", "samerica"), ("item", "")),
    "item": ("location quantity name payment description shipping incategory mailbox", "id featured"),
    "description": ("text parlist", ""),
    "parlist": ("listitem", ""),
    "listitem": ("text parlist", ""),
    "text": ("bold keyword emph", ""),
    "bold": ("keyword emph", ""),
    "keyword": ("bold emph", ""),
    "emph": ("bold keyword", ""),
    "incategory": ("", "category"),
    "mailbox": ("mail", ""),
    "mail": ("from to date text", ""),
    "categories": ("category", ""),
    "category": ("name description", "id"),
    "people": ("person", ""),
    "person": ("name emailaddress phone address creditcard profile watches", "id"),
    "address": ("street city country zipcode", ""),
    "profile": ("interest education gender business age", "income"),
    "interest": ("", "category"),
    "watches": ("watch", ""),
    "watch": ("", "open_auction"),
    "open_auctions": ("open_auction", ""),
    "open_auction": ("initial reserve bidder current itemref seller annotation quantity type interval", "id"),
    "bidder": ("date time personref increase", ""),
    "personref": ("", "person"),
    "itemref": ("", "item"),
    "seller": ("", "person"),
    "annotation": ("author description happiness", ""),
    "author": ("", "person"),
    "interval": ("start end", ""),
    "closed_auctions": ("closed_auction", ""),
    "closed_auction": ("seller buyer itemref price date quantity type annotation", ""),
    "buyer": ("", "person"),
}

_MARKED = "em person location org chron money num event function virtloc"
NEWS: Grammar = {
    "nitf": ("head body", "version change.date"),
    "head": ("title meta tobject docdata pubdata revision-history", "id"),
    "meta": ("", "name content"),
    "tobject": ("tobject.property tobject.subject", "tobject.type"),
    "tobject.property": ("", "tobject.property.type"),
    "tobject.subject": ("", "tobject.subject.code tobject.subject.type tobject.subject.matter"),
    "docdata": (
        "correction evloc doc-id del-list urgency fixture date.issue date.release doc-scope series key-list",
        "status",
    ),
    "del-list": ("from-src", ""),
    "from-src": ("", "src-name level-number"),
    "doc-id": ("", "regsrc id-string"),
    "urgency": ("", "ed-urg"),
    "evloc": ("", "iso-cc city"),
    "key-list": ("keyword", ""),
    "keyword": ("", "key"),
    "pubdata": ("", "type date.publication edition.name position.section"),
    "revision-history": ("", "name function comment"),
    "body": ("body.head body.content body.end", ""),
    "body.head": ("hedline note rights byline distributor dateline abstract", ""),
    "hedline": ("hl1 hl2", ""),
    **dict.fromkeys(
        ("hl1", "hl2", "byline", "distributor", "p", "person", "org", "em", "event"), (_MARKED, "id class")
    ),
    "note": ("body.content", "noteclass type"),
    "rights": ("rights.owner rights.startdate rights.agent rights.geography", ""),
    "dateline": ("location story.date", ""),
    "location": ("sublocation city state region country", "id"),
    "abstract": ("p", ""),
    "body.content": ("block p media table bq ul", ""),
    "block": ("p media table bq ul tagline", "id class style"),
    "media": ("media-reference media-caption media-producer", "media-type"),
    "media-reference": ("", "source mime-type height width"),
    "media-caption": ("p", ""),
    "table": ("caption tr", "border"),
    "tr": ("td", ""),
    "td": ("p", "align"),
    "bq": ("block credit", "nowrap"),
    "ul": ("li", ""),
    "li": ("p em", ""),
    "body.end": ("tagline bibliography", ""),
    "tagline": (_MARKED, "type"),
}
