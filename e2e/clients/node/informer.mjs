// Runs informers of @kubernetes/client-node for the configmaps and widgets of the server at process.argv[2]. For each
// line on stdin, it prints the objects of all informers as one line of JSON,
// {resource: {"namespace/name": resourceVersion}}. It exits when stdin ends.
import { createInterface } from 'node:readline';
import { CoreV1Api, CustomObjectsApi, ERROR, KubeConfig, makeInformer } from '@kubernetes/client-node';

const config = new KubeConfig();
// The client uses plain HTTP only if TLS verification is disabled.
config.loadFromClusterAndUser({ name: 'server', server: process.argv[2], skipTLSVerify: true }, { name: 'user' });
const core = config.makeApiClient(CoreV1Api);
const custom = config.makeApiClient(CustomObjectsApi);
const widgets = { group: 'lw.example.com', version: 'v1', plural: 'widgets' };

const informers = {
  'configmaps': makeInformer(config, '/api/v1/configmaps', () => core.listConfigMapForAllNamespaces()),
  'widgets.lw.example.com': makeInformer(config, '/apis/lw.example.com/v1/widgets',
    () => custom.listCustomObjectForAllNamespaces(widgets)),
};

// Delay in milliseconds before a restart after an error.
const retryAfter = 50;

for (const [resource, informer] of Object.entries(informers)) {
  // An informer stops at the first error, including a broken connection, and emits this event. The library's
  // documentation recommends restarting it after a delay. The informer then resumes from its last resourceVersion.
  // The informer handles 410 responses itself.
  informer.on(ERROR, (err) => {
    console.error(`${resource}: ${err}`);
    setTimeout(() => informer.start(), retryAfter);
  });
  informer.start();
}

const held = (informer) => Object.fromEntries(informer.list().map(({ metadata }) =>
  [`${metadata.namespace}/${metadata.name}`, metadata.resourceVersion]));

const requests = createInterface({ input: process.stdin });
requests.on('line', () => {
  const snapshot = Object.entries(informers).map(([resource, informer]) => [resource, held(informer)]);
  console.log(JSON.stringify(Object.fromEntries(snapshot)));
});
requests.on('close', () => process.exit());
