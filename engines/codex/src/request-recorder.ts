import { listenOnLoopback } from '@svc/engine-kit/listen-on-loopback.ts';
import { readBody } from '@svc/service-kit/http/read-body.ts';
import { http } from '@svc/service-kit/builtin.ts';

export type RequestRecorder = {
  /** Settles with the body of the first request below `/<name>`. */
  bodyOf(name: string): Promise<unknown>;
  /** The address to which a client must send the request of this name. */
  urlOf(name: string): string;
  close(): Promise<void>;
};

const maxBodyBytes = 4 * 1024 * 1024;

/** Acts as a model on loopback: records its requests, and answers with an error. */
export async function startRequestRecorder(): Promise<RequestRecorder> {
  const asked = new Map<string, PromiseWithResolvers<unknown>>();
  const slotOf = (name: string) => {
    const slot = asked.get(name) ?? Promise.withResolvers<unknown>();
    asked.set(name, slot);
    slot.promise.catch(() => undefined); // the caller of `bodyOf` gets the error
    return slot;
  };
  const server = http.createServer((request, response) => {
    const name = (request.url ?? '').split('/')[1] ?? '';
    readBody(request, maxBodyBytes)
      .then((raw) => {
        if (request.method === 'POST') slotOf(name).resolve(JSON.parse(raw.toString('utf8')));
      })
      .catch((error: unknown) => slotOf(name).reject(error))
      .finally(() => response.writeHead(400, { 'content-type': 'application/json' }).end(refusal));
  });
  const { url, close } = await listenOnLoopback(server);
  return {
    bodyOf: (name) => slotOf(encodeURIComponent(name)).promise,
    urlOf: (name) => `${url}/${encodeURIComponent(name)}`,
    close,
  };
}

const refusal = JSON.stringify({
  error: { type: 'invalid_request_error', code: 'invalid_request_error', message: 'only a check' },
});
