"""Subscriptions, in whatever form a Spark job has them, as a plan in a folder that its workers reach."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.errors import Explained, PipelineError
from tidings.events.files.chunk import WrongHeader
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.matching.subscription_batch import SubscriptionBatch
from tidings.pipeline.direct.direct import Folders, NewestPlan, plan_folders
from tidings.pipeline.plans.plans import Plans, Published, WorkerPlans
from tidings.pipeline.plans.shared_plans import FetchedPlans, PlanUploads
from tidings.pipeline.spark.location import is_uri, location_of
from tidings.pipeline.spark.session import is_connect, is_local, master_of
from tidings.schema import Catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_used: dict[Path, tuple[int, int]] = {}  # by folder the manifest that was there


class ForeignPlan(Explained, PipelineError):
    folder: str
    template = (
        "the plan in {folder} was made under another schema; use that schema, or save the plan again under this one"
    )


class PlanOutOfReach(Explained, PipelineError):
    """A plan would be saved where only this machine may see it: the master whose workers must read it."""

    master: str
    template = (
        "the workers of {master} may not see the temporary files of this machine; name a folder "
        "that all of them reach, or a URI such as s3a://BUCKET/PATH"
    )


class PlanReplaced(Explained, PipelineError):
    folder: str
    template = (
        "{folder} was used by this process already and is another plan now; workers may have the old one "
        "open, so give the new one another name"
    )


def folders_of(
    subscriptions: Any, catalog: Catalog, session: SparkSession, place: str | os.PathLike[str] | None
) -> Folders:
    """How workers find the plan. `place` is a folder that they share, or a URI from which they fetch it; subscriptions
    may be a folder or URI, too, at which a plan was saved before."""
    setting = partial(_setting, session)
    if is_uri(subscriptions):
        return _fetched(FetchedPlans(location_of(subscriptions, setting)), catalog)
    if place is not None and is_uri(place):
        with tempfile.TemporaryDirectory(prefix="tidings-") as made:
            plans = Plans(Path(made), PlanUploads(location_of(str(place), setting)))
            version = plans.next_version(time.time_ns() // 1_000_000)
            plan_of(subscriptions, catalog, "local", plans.path(version, 0))
            plans.publish(Published(version, 0, 1, ""))
        return _fetched(plans.for_workers(), catalog)
    master = "Spark Connect" if is_connect(session) else master_of(session)
    return partial(plan_folders, plan_of(subscriptions, catalog, master, None if place is None else Path(place)))


def _setting(session: SparkSession, name: str) -> str | None:
    value: str | None = session.conf.get(name, None)
    return value


def _fetched(plans: WorkerPlans, catalog: Catalog) -> Folders:
    """The newest plan at a URI; what is wrong with it is better told by the driver than by a worker."""
    folders = NewestPlan(plans)
    if any(open_plan(folder).catalog != catalog for folder in folders()):
        raise ForeignPlan(str(plans))
    return folders


def plan_of(subscriptions: Any, catalog: Catalog, master: str, folder: Path | None = None) -> Path:
    """Where the plan is. A saved plan is used as it is; all else becomes one, in this folder, which then is the
    plan's own and stays, or in a temporary one, which goes with the process."""
    if isinstance(subscriptions, (str, os.PathLike)) and Path(subscriptions).is_dir():
        return _saved(Path(subscriptions).absolute(), catalog)
    place = folder.absolute() if folder is not None else _temporary_folder(master) / "plan"
    matcher = BoxMatcher(catalog)
    batch = _batch(subscriptions, catalog)
    if batch is not None:
        matcher.add_batch(batch.ids, batch.filters)
    else:
        matcher.add_many((subscription, 0) for subscription in subscriptions)
    save_plan(matcher, place)
    _remember(place)
    return place


def _temporary_folder(master: str) -> Path:
    """Removed when the process ends."""
    if not is_local(master):
        raise PlanOutOfReach(master)
    made = tempfile.mkdtemp(prefix="tidings-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made).absolute()


def _saved(folder: Path, catalog: Catalog) -> Path:
    """Opened here first: what is wrong with it is better told by the driver than by a worker."""
    for part in plan_folders(folder):
        if open_plan(part).catalog != catalog:
            raise ForeignPlan(str(folder))
        _remember(part)
    return folder


def _remember(folder: Path) -> None:
    """Workers keep plans open by the name of their folder. Raises PlanReplaced."""
    found = (folder / "manifest.json").stat()
    if _used.setdefault(folder, (found.st_ino, found.st_mtime_ns)) != (found.st_ino, found.st_mtime_ns):
        raise PlanReplaced(str(folder))


def _batch(subscriptions: Any, catalog: Catalog) -> SubscriptionBatch | None:
    """None where they are subscriptions one by one."""
    if isinstance(subscriptions, SubscriptionBatch):
        return subscriptions
    if isinstance(subscriptions, (str, os.PathLike)):
        with open(subscriptions, "rb") as file:
            return SubscriptionBatch.read(file, catalog)
    if hasattr(subscriptions, "toArrow"):
        return SubscriptionBatch.read(_rows(subscriptions), catalog)
    return None


def _rows(frame: DataFrame) -> list[dict[str, Any]]:
    """As the lines of a file are read, so that all that is wrong is told in the same words."""
    missing = [name for name in ("id", "filter") if name not in frame.columns]
    if missing:
        problems = tuple(f"the column {name!r} is missing" for name in missing)
        raise WrongHeader("the DataFrame of subscriptions", problems)
    rows: list[dict[str, Any]] = frame.select("id", "filter").toArrow().to_pylist()
    return rows
