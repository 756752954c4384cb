"""Driver for Python's kubernetes client. Its Watch only follows, so the driver lists again five seconds after an exception."""

import json
import os
import sys
import time

import kubernetes

url, resource, namespace = sys.argv[1:]
config = kubernetes.client.Configuration()
config.host, config.ssl_ca_cert = url, os.environ.get("SSL_CERT_FILE")
core = kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(config))
held = {}


def show(kind, key, version, uid):
    print(json.dumps({"type": kind, "key": key, "resourceVersion": version, "uid": uid}), flush=True)


def apply(item, deleted=False):
    meta = item.metadata
    key, state = f"{meta.namespace}/{meta.name}", (meta.resource_version, meta.uid)
    if deleted and held.pop(key, None):
        show("DELETED", key, *state)
    elif not deleted and held.get(key) != state:
        show("MODIFIED" if key in held else "ADDED", key, *state)
        held[key] = state
    return key


print(json.dumps({"type": "CLIENT", "version": kubernetes.__version__}), flush=True)
while True:
    try:
        listed = core.list_namespaced_config_map(namespace)
        keys = {apply(item) for item in listed.items}
        for key in held.keys() - keys:
            show("DELETED", key, *held.pop(key))
        version = listed.metadata.resource_version
        for event in kubernetes.watch.Watch().stream(core.list_namespaced_config_map, namespace, resource_version=version):
            if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
                apply(event["object"], event["type"] == "DELETED")
    except Exception as error:
        print(repr(error)[:500], file=sys.stderr)
        time.sleep(5)
