import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { LocalEndpoint } from './choose-engine.ts';

/** Where local model servers listen by default. */
const places = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'llama-server', port: 8080 },
  { name: 'vLLM', port: 8000 },
];
const timeoutMs = 400;
/** Anything may listen there. */
const maxBytes = 1024 * 1024;

/** The first local model server that offers a model over the Responses protocol. Loopback only; no key is sent. */
export async function findLocalEndpoint(): Promise<LocalEndpoint | null> {
  const found = await Promise.all(places.map(({ name, port }) => look(name, `http://127.0.0.1:${port}/v1`)));
  return found.find((endpoint) => endpoint !== null) ?? null;
}

async function look(name: string, baseUrl: string): Promise<LocalEndpoint | null> {
  try {
    const models = await requestJson<{ data?: { id?: string }[] }>(`${baseUrl}/models`, { timeoutMs, maxBytes });
    const model = models.body.data?.[0]?.id;
    if (models.status !== 200 || model === undefined) return null;
    // An empty body is an error where the route exists and "no such route" where it does not; no token is spent.
    const probe = await requestJson(`${baseUrl}/responses`, { method: 'POST', body: {}, timeoutMs, maxBytes });
    return probe.status === 404 || probe.status === 405 ? null : { name, baseUrl, model };
  } catch {
    return null; // nothing listens there, or it is something else: a normal finding
  }
}
