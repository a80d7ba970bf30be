"""Tools for Compute Engine."""

from __future__ import annotations

from mesocosm.servers.google_cloud.store import GoogleCloudStore
from mesocosm.servers.google_cloud.store.compute import MACHINE_TYPES, Operation
from mesocosm.servers.google_cloud.tools.service import InstanceName, PageToken, ZoneName, next_page, server


@server.reads
def compute_list_instances(
    store: GoogleCloudStore, zone: str = "", max_results: int = 100, page_token: PageToken = ""
) -> str:
    """List the virtual machines of the project with zone, status and machine type.

    Args:
        zone: Only those of this zone, such as us-central1-a; all zones if empty.
        max_results: Machines of a page, 1 to 500.
    """
    found, token = store.compute.list_instances(zone, max_results, page_token)
    lines = [
        f"- {one.name} (Zone: {one.zone}, Status: {store.compute.status(one)}, Type: {one.machine_type})"
        for one in found
    ]
    return "\n".join([f"Found {len(lines)} instances:", *lines]) + next_page(token)


@server.writes
def compute_create_instance(
    store: GoogleCloudStore, instance_name: str, zone: str, machine_type: str = "e2-micro"
) -> str:
    """Begin to create a virtual machine, which runs once the operation is done.

    Args:
        instance_name: Lower-case letters, digits and hyphens, beginning with a letter.
        zone: Where, such as us-central1-a.
        machine_type: Its size, such as e2-micro or n1-standard-4.
    """
    return _begun("creation", store.compute.create(instance_name, zone, machine_type))


@server.writes(destructive=True)
def compute_delete_instance(store: GoogleCloudStore, instance_name: InstanceName, zone: ZoneName) -> str:
    """Begin to delete a virtual machine, with its disk."""
    return _begun("deletion", store.compute.delete(instance_name, zone))


@server.writes(idempotent=True)
def compute_start_instance(store: GoogleCloudStore, instance_name: InstanceName, zone: ZoneName) -> str:
    """Begin to start a virtual machine that is stopped."""
    return _begun("start", store.compute.start(instance_name, zone))


@server.writes(destructive=True, idempotent=True)
def compute_stop_instance(store: GoogleCloudStore, instance_name: InstanceName, zone: ZoneName) -> str:
    """Begin to stop a virtual machine that is running."""
    return _begun("stop", store.compute.stop(instance_name, zone))


@server.writes(destructive=True)
def compute_restart_instance(store: GoogleCloudStore, instance_name: InstanceName, zone: ZoneName) -> str:
    """Restart (reset) a virtual machine that is running."""
    return _begun("restart", store.compute.reset(instance_name, zone))


@server.reads
def compute_get_instance(store: GoogleCloudStore, instance_name: InstanceName, zone: ZoneName) -> str:
    """Show a virtual machine: status, machine type, times, addresses, disk and labels."""
    one = store.compute.instance(instance_name, zone)
    status = store.compute.status(one)
    processors, memory = MACHINE_TYPES[one.machine_type]
    lines = [
        f"Instance Information for '{one.name}':",
        f"Status: {status}",
        f"Zone: {one.zone}",
        f"Machine Type: {one.machine_type} ({processors:g} vCPUs, {memory:g} GB)",
        f"Created: {one.created}",
        f"Last started: {one.last_start or 'never'}",
        f"Network Interfaces: default ({one.internal_ip})",
        f"External IP: {one.external_ip if status == 'RUNNING' else 'None'}",
        f"Disk: {one.disk_gb} GB, {one.image}",
        f"Labels: {one.labels}",
    ]
    return "\n".join(lines)


@server.reads
def compute_list_zones(store: GoogleCloudStore) -> str:
    """List the zones in which virtual machines can be created."""
    zones = store.compute.zones()
    return "\n".join([f"Found {len(zones)} available zones:", *(f"- {zone}" for zone in zones)])


@server.writes(idempotent=True)
def compute_wait_for_operation(
    store: GoogleCloudStore, operation_name: str, zone: str, timeout_minutes: int = 5
) -> str:
    """Wait until an operation on a virtual machine is done.

    Args:
        operation_name: As the tool that began it says.
        zone: The machine's zone.
        timeout_minutes: How long to wait at most, from 1.
    """
    operation = store.compute.wait(operation_name, zone, timeout_minutes)
    return f"Operation '{operation.name}' ({operation.kind} of '{operation.target}') completed successfully"


def _begun(what: str, operation: Operation) -> str:
    return (
        f"Successfully initiated {what} of instance '{operation.target}' in zone '{operation.zone}'"
        f"\nOperation: {operation.name}"
    )
