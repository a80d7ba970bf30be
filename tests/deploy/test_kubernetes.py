"""The manifests for Kubernetes follow the schemas of its API, fit each other, and run what compose runs."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy/kubernetes"
FILES = sorted(path.name for path in FOLDER.glob("*.yaml"))
VERSIONS = ("1.30", "1.37")
"""The oldest and the newest that are promised; the newest is what the installed schemas have."""
POLICY = "app.kubernetes.io/component"


def documents(name: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all((FOLDER / name).read_text()) if one]


RESOURCES = {
    (one["kind"], one["metadata"]["name"]): one
    for one in chain(*map(documents, FILES))
    if one["kind"] != "Kustomization"
}
PODS = {
    name: one["spec"]["template"]
    for (kind, name), one in RESOURCES.items()
    if kind in ("StatefulSet", "Deployment", "Job")
}


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


@pytest.mark.parametrize("version", VERSIONS)
def test_manifests_follow_the_schemas_of_the_api(version: str) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="needs kubernetes-validate: the extra dev")
    for one in RESOURCES.values():
        validator.validate(one, version, strict=True)
    broken = RESOURCES["StatefulSet", "servers"] | {"spec": {"replica": 1}}
    with pytest.raises(validator.ValidationError):
        validator.validate(broken, version, strict=True)


def test_kustomize_is_told_of_files_that_are_there() -> None:
    [told] = documents("kustomization.yaml")
    assert set(told["resources"]) | {"kustomization.yaml", "evaluation.yaml"} == set(FILES)
    assert {one["metadata"].get("namespace", "mesocosm") for one in RESOURCES.values()} == {told["namespace"]}


@pytest.mark.parametrize("name", PODS)
def test_pods_are_what_the_compose_file_runs(name: str, compose: Any) -> None:
    [container] = PODS[name]["spec"]["containers"]
    service = compose[name]
    assert container["image"] == service["image"]
    same = {word for word in service["command"] if word.startswith("--")} - {"--imap-port", "--smtp-port"}
    assert same <= set(container["args"]), "mail ports go with one process only"
    variables = {one["name"] for one in container["env"]}
    assert set(service["environment"]) - {"OPENAI_BASE_URL"} <= variables
    assert container["securityContext"]["capabilities"].get("add") == service.get("cap_add")
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    assert set(container["resources"]["limits"]) == {"cpu", "memory"}
    assert not PODS[name]["spec"]["automountServiceAccountToken"]


def test_secrets_are_named_and_never_written() -> None:
    for name, pod in PODS.items():
        for one in pod["spec"]["containers"][0]["env"]:
            if one["name"].endswith(("TOKEN", "KEY")):
                assert set(one) == {"name", "valueFrom"}, f"{name}: {one['name']}"


@pytest.mark.parametrize("name", ["servers", "code-runner"])
def test_services_and_probes_lead_to_their_pods(name: str) -> None:
    service, owner = RESOURCES["Service", name]["spec"], PODS[name]
    [container] = owner["spec"]["containers"]
    assert service["selector"].items() <= owner["metadata"]["labels"].items()
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports[service["ports"][0]["targetPort"]] == service["ports"][0]["port"]
    assert str(service["ports"][0]["port"]) in " ".join(container["args"])
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        [asked] = [container[probe][way] for way in ("httpGet", "tcpSocket") if way in container[probe]]
        assert asked["port"] in ports


def test_code_of_agents_is_asked_by_servers_and_gets_nowhere() -> None:
    policies = {name: one["spec"] for (kind, name), one in RESOURCES.items() if kind == "NetworkPolicy"}
    default = policies.pop("nothing-by-default")
    assert (default["podSelector"], default["policyTypes"]) == ({}, ["Ingress", "Egress"])
    assert {one["podSelector"]["matchLabels"][POLICY] for one in policies.values()} == {
        pod["metadata"]["labels"][POLICY] for pod in PODS.values()
    }
    runner = policies["code-runner"]
    assert runner["egress"] == []
    assert runner["ingress"] == [
        {"from": [{"podSelector": {"matchLabels": {POLICY: "servers"}}}], "ports": [{"port": 8322}]}
    ]


def test_servers_reach_a_store_in_the_cluster_or_outside() -> None:
    [servers] = [
        one["spec"] for (kind, name), one in RESOURCES.items() if (kind, name) == ("NetworkPolicy", "servers")
    ]
    to = [(one["to"], [port["port"] for port in one.get("ports", ())]) for one in servers["egress"]]
    marked = {"namespaceSelector": {}, "podSelector": {"matchLabels": {"mesocosm-store": "true"}}}
    assert ([marked], []) in to
    [(_, outside)] = [(peers, ports) for peers, ports in to if "ipBlock" in peers[0]]
    assert outside == [443]
