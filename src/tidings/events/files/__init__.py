"""Files of events: each form's reader makes chunks of raw columns, `reading` makes batches of valid events of them."""
