// Driver with which the conformance suite runs the informer of @kubernetes/client-node.
import { readFileSync } from 'node:fs';
import { ADD, CoreV1Api, DELETE, ERROR, KubeConfig, UPDATE, makeInformer } from '@kubernetes/client-node';

const [url, resource, namespace] = process.argv.slice(2);
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const { version } = JSON.parse(readFileSync(new URL('node_modules/@kubernetes/client-node/package.json', import.meta.url)));
print({ type: 'CLIENT', version });

const config = new KubeConfig();
// The client uses plain HTTP only if TLS verification is disabled.
config.loadFromClusterAndUser({ name: 'server', server: url, skipTLSVerify: url.startsWith('http:') }, { name: 'user' });
const core = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/${resource}`, () => core.listNamespacedConfigMap({ namespace }));
for (const [verb, type] of [[ADD, 'ADDED'], [UPDATE, 'MODIFIED'], [DELETE, 'DELETED']]) {
  // One server sends resourceVersions as numbers, but the suite requires strings.
  informer.on(verb, ({ metadata: { name, namespace: space, resourceVersion, uid } }) =>
    print({ type, key: `${space}/${name}`, resourceVersion: String(resourceVersion), uid }));
}
// An informer stops at the first error. The library's documentation recommends restarting it after five seconds.
informer.on(ERROR, (err) => {
  console.error(err);
  setTimeout(start, 5000);
});
const start = () => informer.start().catch((err) => {
  console.error(err);
  setTimeout(start, 5000);
});
start();
