"""The web pages: everything that can be done with the service, by hand, in a browser.

    request ── PageRoute (who visits, what went wrong) ── a page's module ── templates/*.html
                                                             └ what the API's routes use: gateway, inquiries, accounts

Pages are whole without any program in the browser; static/*.js only makes them live and the builder of filters
comfortable. Nothing here is part of the OpenAPI document.
"""

from tidings.service.pages.parts.error_page import error_page
from tidings.service.pages.router import router

__all__ = ["error_page", "router"]
