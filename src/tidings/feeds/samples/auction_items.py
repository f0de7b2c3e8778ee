"""Made-up cars for auction with the skew of real ones: few brands sell most, most cars are cheap, some are dear.

The car of a number is a pure function of the seed and the number, so nothing has to be kept."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate

# By how often they are sold, which falls off as Zipf found; models likewise.
MODELS = {
    "Volkswagen": ("Golf", "Passat", "Polo", "Beetle", "Transporter", "Scirocco"),
    "Ford": ("Focus", "Fiesta", "Mustang", "Mondeo", "Escort", "Capri"),
    "Opel": ("Corsa", "Astra", "Kadett", "Manta", "Omega"),
    "BMW": ("320i", "520d", "M3", "X5", "Isetta"),
    "Mercedes-Benz": ("C 180", "E 220", "190 E", "280 SL", "G 300"),
    "Audi": ("A4", "A6", "80", "TT", "Quattro"),
    "Toyota": ("Corolla", "Yaris", "Celica", "Land Cruiser", "Supra"),
    "Fiat": ("Punto", "500", "Panda", "Uno", "124 Spider"),
    "Renault": ("Clio", "Megane", "Twingo", "4", "Alpine A110"),
    "Peugeot": ("206", "307", "205 GTI", "504"),
    "Volvo": ("V70", "240", "850", "Amazon", "P1800"),
    "Honda": ("Civic", "Accord", "CRX", "S2000"),
    "Mazda": ("MX-5", "323", "RX-7", "626"),
    "Mini": ("Cooper", "One", "1000", "Clubman"),
    "Alfa Romeo": ("147", "Spider", "Giulia", "GTV"),
    "Saab": ("900", "9-3", "99 Turbo"),
    "Jaguar": ("XJ6", "E-Type", "XK8"),
    "Porsche": ("911", "944", "Boxster", "356"),
    "Lancia": ("Delta Integrale", "Fulvia"),
    "Citroën": ("2CV", "DS", "CX"),
    "Ferrari": ("308 GTS", "Testarossa", "F40"),
    "Aston Martin": ("DB5", "V8 Vantage"),
}
DEARNESS = {"Porsche": 4.0, "Jaguar": 2.5, "Ferrari": 14.0, "Aston Martin": 16.0, "Lancia": 2.0, "Mercedes-Benz": 1.6}
PAINTS = ("black", "silver", "white", "blue", "red", "grey", "green", "yellow", "orange")
CONDITIONS = ("worn", "good", "mint")
_WORDS = (
    "one owner",
    "full history",
    "low miles",
    "needs work",
    "barn find",
    "new tyres",
    "garaged",
    '"rare"',
    "TLC & love",
)
_BRANDS = tuple(MODELS)


def _zipf(count: int, exponent: float = 1.1) -> list[float]:
    return list(accumulate(1 / (rank + 1) ** exponent for rank in range(count)))


_BRAND_WEIGHTS = _zipf(len(_BRANDS), 0.9)
_WEIGHTS = {count: _zipf(count) for count in range(1, 20)}


@dataclass(frozen=True, slots=True)
class Item:
    number: int
    title: str
    brand: str
    model: str
    year: int
    price: float
    miles: int
    paint: tuple[str, ...]
    condition: str
    bids: int
    listed: datetime
    ends: datetime


def item(seed: int, number: int, listed: datetime) -> Item:
    """`listed` is when it was put up; the auction ends some days later."""
    draw = random.Random(seed * 1_000_003 + number)
    brand = draw.choices(_BRANDS, cum_weights=_BRAND_WEIGHTS)[0]
    model = _ranked(draw, MODELS[brand])
    this_year = listed.year
    year = this_year - min(int(draw.gammavariate(2.2, 6.0)), this_year - 1955)
    age = this_year - year
    worth = 22_000 * 0.86**age if age < 28 else 400 * 1.09 ** (age - 20)  # what is old enough is dear again
    price = round(max(50.0, worth * DEARNESS.get(brand, 1.0) * draw.lognormvariate(0.0, 0.6)), draw.choice((0, 0, 2)))
    paint = tuple(dict.fromkeys(_ranked(draw, PAINTS) for _ in range(2 if draw.random() < 0.12 else 1)))
    condition = _ranked(draw, ("good", "worn", "mint"))
    miles = int(age * draw.gauss(9_000, 2_500)) if age else draw.randrange(5_000)
    words = draw.sample(_WORDS, 2)
    days = draw.choices((1, 3, 5, 7, 10), cum_weights=(10, 25, 40, 90, 100))[0]
    return Item(
        number,
        f"{year} {brand} {model}, {words[0]}, {words[1]}",
        brand,
        model,
        year,
        price,
        max(0, miles),
        paint,
        condition,
        min(int(draw.paretovariate(1.1)) - 1, 80),
        listed,
        (listed + timedelta(days=days)).astimezone(UTC),
    )


def _ranked(draw: random.Random, words: tuple[str, ...]) -> str:
    """The first most often."""
    return draw.choices(words, cum_weights=_WEIGHTS[len(words)])[0]
