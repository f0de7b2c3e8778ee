"""Live streams: notifications go out as they are found."""
