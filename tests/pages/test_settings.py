from __future__ import annotations

from pathlib import Path

import pytest
from mnemoscope import ConfigurationError

from app.session.settings import VARIABLES, Settings, data_folder


def test_settings_survive_the_way_to_the_script() -> None:
    settings = Settings(
        store="/data/m.sqlite",
        model="anthropic:x",
        operator="ana",
        is_writing=True,
        config="/etc/mnemoscope.toml",
        connection="production",
        embedder="hashing",
        profile="classic",
        is_read_only=True,
        role="editor",
        index_megabytes="2000",
    )
    assert Settings.from_environment(settings.to_environment()) == settings


def test_nothing_named_means_no_store_no_model_and_reading() -> None:
    settings = Settings.from_environment({})
    assert (settings.store, settings.model, settings.is_writing, settings.is_read_only) == (None, None, False, False)
    assert settings.operator


@pytest.mark.parametrize("value", ["", "0", "no", "off", "maybe"])
def test_only_a_clear_yes_switches_writing_on(value: str) -> None:
    assert not Settings.from_environment({"MNEMOSCOPE_WRITE": value}).is_writing


def test_every_setting_has_a_variable() -> None:
    assert set(VARIABLES) == set(Settings.__dataclass_fields__)


def test_the_data_folder_follows_the_desktop_standard(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "mnemoscope"


def test_index_memory_is_in_whole_megabytes() -> None:
    assert Settings.from_environment({}).index_bytes == 1_500_000_000
    assert Settings.from_environment({"MNEMOSCOPE_INDEX_MEMORY": "64"}).index_bytes == 64_000_000
    for wrong in ("0", "-1", "1.5", "2 GB", "²"):
        with pytest.raises(ConfigurationError, match="whole megabytes"):
            _ = Settings.from_environment({"MNEMOSCOPE_INDEX_MEMORY": wrong}).index_bytes
