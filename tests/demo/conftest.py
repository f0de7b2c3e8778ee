from tests.client.conftest import ann, settings, url  # noqa: F401  # fixtures
from tests.service.conftest import service  # noqa: F401  # a fixture
