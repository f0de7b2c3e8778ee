import pytest

from tests.service.conftest import Service
from tests.service.pages.visitor import Visitor


@pytest.fixture
def visitor(service: Service) -> Visitor:
    """Nobody yet."""
    return Visitor(service)


@pytest.fixture
def ann(service: Service) -> Visitor:
    """Registered by the page."""
    return Visitor(service).join("ann")
