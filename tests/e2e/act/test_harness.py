"""The harness itself: a trivial action shows what the runner hands over, and that artifacts make the whole way round."""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path

import pytest

from tests.e2e.act.consumer import Consumer
from tests.e2e.act.runner import HERE, ROOT, Act
from tests.support.forge import FakeGitHub

pytestmark = [pytest.mark.xdist_group("act"), pytest.mark.endtoend]

ACTION = """\
name: trivial
inputs: {text: {default: none}}
outputs:
  said: {value: "${{ steps.say.outputs.said }}"}
runs:
  using: composite
  steps:
    - id: say
      shell: /bin/sh -e {0}
      env: {TEXT: "${{ inputs.text }}", TOKEN: "${{ github.token }}"}
      run: |
        echo "said=$TEXT" >> "$GITHUB_OUTPUT"
        echo "# a summary" >> "$GITHUB_STEP_SUMMARY"
        echo "::warning title=here,file=a.py,line=3::one%0Atwo"
        echo "::add-mask::hidden"
        echo "token $TOKEN, sha $GITHUB_SHA, ref $GITHUB_REF, event $GITHUB_EVENT_NAME, repository $GITHUB_REPOSITORY, run $GITHUB_RUN_ID"
        mkdir -p out/inner && echo data > out/inner/a.txt && echo hidden > out/.b && echo '<html>' > page-1.html
    - id: page
      uses: actions/upload-artifact@PIN
      with: {path: page-1.html, archive: false, overwrite: true}
    - id: data
      uses: actions/upload-artifact@PIN
      with: {name: data, path: out}
    - shell: /bin/sh -e {0}
      run: exit 3
"""
WORKFLOW = """\
on: pull_request
jobs:
  trivial:
    runs-on: self-hosted
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
      - id: it
        uses: acme/trivial@v1
        with: {text: "${{ github.head_ref }}"}
"""
LISTING = """\
      - uses: actions/download-artifact@PIN
        if: always()
        with: {path: got}
      - if: always()
        id: list
        run: echo "files=$(cd got && find . -type f | sort | tr '\\n' ' ')" >> "$GITHUB_OUTPUT"
"""


CLIENT = ROOT / ".tools" / "node" / "node_modules" / "@actions" / "artifact" / "lib" / "artifact.js"


# the stand-in hands in what all other tests here hand in
@pytest.mark.parametrize(
    "upload", [pytest.param("upload-artifact", marks=pytest.mark.nightly), "upload-artifact-client"]
)
def test_what_a_step_does_arrives(
    act: Act, consumer: Consumer, github: FakeGitHub, tmp_path: Path, upload: str
) -> None:
    if upload == "upload-artifact-client" and not (CLIENT.exists() and shutil.which("node")):
        pytest.skip("no client of GitHub's: `make tools` installs it (npm)")
    pin = {name.partition("@")[0]: name.partition("@")[2] for name in act.repositories if name.startswith("actions/")}
    (tmp_path / "trivial").mkdir()
    (tmp_path / "trivial" / "action.yml").write_text(ACTION.replace("PIN", pin["actions/upload-artifact"]))
    act.repositories["acme/trivial@v1"] = tmp_path / "trivial"
    act.repositories[f"actions/upload-artifact@{pin['actions/upload-artifact']}"] = HERE / "actions" / upload
    change = consumer.change(1.3, ref='zzz";echo${IFS}"hello";#')
    download = pin.get("actions/download-artifact", "")
    ran = act.run(
        consumer.top,
        change.event(),
        WORKFLOW + (LISTING.replace("PIN", download) if download else ""),
        variables={"STAND_IN_CLIENT": str(CLIENT)},
    )
    assert ran.exit == 1, ran.log
    assert ran.outputs["it"] == {"said": 'zzz";echo${IFS}"hello";#'}
    assert [one.strip() for one in ran.summaries] == ["# a summary"]
    warning = ran.annotations[0]
    assert (warning.level, warning.message, warning.properties["title"], warning.properties["line"]) == (
        "warning",
        "one\ntwo",
        "here",
        "3",
    )
    assert ran.masks[0] == "hidden"  # GitHub's client adds the tickets
    told = f"sha {change.merge}, ref refs/pull/12/merge, event pull_request, repository acme/widget, run 501"
    assert f"token ***, {told}" in ran.log and github.token not in ran.log
    assert {one.name: one.run_id for one in github.artifacts} == {"page-1.html": 501, "data": 501}
    assert github.artifacts[0].data == b"<html>\n"
    assert zipfile.ZipFile(io.BytesIO(github.artifacts[1].data)).namelist() == ["inner/a.txt"]
    assert github.runs[501].head_sha == change.head
    if download:
        assert ran.outputs["list"]["files"].split() == ["./data/inner/a.txt", "./page-1.html/page-1.html"]
