"""A browser without scripts: follows links, fills in the forms that the page really has, keeps cookies."""

from __future__ import annotations

from typing import Any

import httpx
from lxml import html

from tests.service.conftest import PASSWORD, Service


class Visitor:
    """`page` is the answer that is on the screen."""

    def __init__(self, service: Service) -> None:
        self.service = service
        headers = {"Origin": service.address, "Accept": "text/html,*/*;q=0.8"}
        self.client = httpx.Client(base_url=service.address, timeout=60, headers=headers, verify=False)
        service.clients.append(self.client)

    def get(self, path: str, **query: Any) -> httpx.Response:
        self.page = self.client.get(path, params=query or None, follow_redirects=True)
        if 'data-later="' in self.page.text:
            (place,) = self.tree.xpath("//*[@data-later]")
            self.page = self.client.get(place.find("a").get("href"))
        return self.page

    @property
    def tree(self) -> Any:
        return html.fromstring(self.page.text)

    @property
    def text(self) -> str:
        """What is to be read on the page."""
        return " ".join(self.tree.text_content().split())

    def form(self, action: str) -> dict[str, list[str]]:
        """The fields of the form that goes there, as they stand."""
        for form in self.tree.iter("form"):
            if form.get("action") == action and form.get("method", "get") == "post":
                fields: dict[str, list[str]] = {}
                for name, value in form.form_values():
                    fields.setdefault(name, []).append(value)
                return fields
        raise AssertionError(f"no form to {action} on {self.page.url}:\n{self.text[:2000]}")

    def submit(self, action: str, **filled: Any) -> httpx.Response:
        """Sends that form with what was filled in; a list stands for several values, None leaves a field out."""
        fields: dict[str, Any] = self.form(action)
        for name, value in filled.items():
            if value is None:
                fields.pop(name, None)
            else:
                fields[name] = value
        self.page = self.client.post(action, data=fields, follow_redirects=True)
        return self.page

    def join(self, username: str) -> Visitor:
        self.get("/pages/register")
        self.submit("/pages/register", username=username, password=PASSWORD, again=PASSWORD)
        assert self.page.status_code == 200, self.text
        assert self.page.url.path == "/pages/subscriptions/new", self.text
        return self

    def log_in(self, username: str, password: str = PASSWORD) -> Visitor:
        self.get("/pages/login")
        self.submit("/pages/login", username=username, password=password)
        return self

    def subscribe(self, filter: str) -> str:
        """The id."""
        self.get("/pages/subscriptions/new")
        self.submit("/pages/subscriptions/new", text=filter)
        assert self.page.status_code == 200, self.text
        return self.page.url.path.rpartition("/")[2]

    def errors(self) -> dict[str, str]:
        """What the page says is wrong, by the field it stands at."""
        return {
            node.get("name"): self.tree.get_element_by_id(node.get("aria-describedby")).text_content().strip()
            for node in self.tree.iter("input", "select", "textarea")
            if node.get("aria-invalid") == "true" and node.get("aria-describedby", "").startswith("wrong-")
        }
