// Follows the configmaps and widgets of the server at process.argv[2] with the informers of @kubernetes/client-node. For
// each line on stdin it prints what they hold as one line of JSON, {resource: {"namespace/name": resourceVersion}}. It ends
// when stdin does.
import { createInterface } from 'node:readline';
import { CoreV1Api, CustomObjectsApi, ERROR, KubeConfig, makeInformer } from '@kubernetes/client-node';

const config = new KubeConfig();
// It speaks plain HTTP only if it is told not to verify TLS.
config.loadFromClusterAndUser({ name: 'server', server: process.argv[2], skipTLSVerify: true }, { name: 'user' });
const core = config.makeApiClient(CoreV1Api);
const custom = config.makeApiClient(CustomObjectsApi);
const widgets = { group: 'lw.example.com', version: 'v1', plural: 'widgets' };

const informers = {
  'configmaps': makeInformer(config, '/api/v1/configmaps', () => core.listConfigMapForAllNamespaces()),
  'widgets.lw.example.com': makeInformer(config, '/apis/lw.example.com/v1/widgets',
    () => custom.listCustomObjectForAllNamespaces(widgets)),
};

// How long to leave a server alone that has just failed. Nothing waits for this to be over.
const retryAfter = 50;

for (const [resource, informer] of Object.entries(informers)) {
  // An informer gives up at the first error, a broken connection included, and tells so by this event: its documentation's
  // example starts it again after a while. It then goes on at the version where it was; a 410 it deals with itself.
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
