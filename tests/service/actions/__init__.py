"""Actions, as HTTP, XML and the pages share them."""
