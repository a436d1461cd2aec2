import type { ApiKeyCreated, ApiKeyList, ApiKeyRevoked, NewApiKey } from '@svc/contract/api-key.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { askCore } from '../service-client.ts';
import { coreUrl } from '../service-urls.ts';
import { refusal, type RefusalHelp } from '../show-answer.ts';

/** Longer than the core waits for a connector to accept or refuse a key. */
const timeoutMs = 30_000;

/** The core's routes for keys of the chat completions API. Refusals are thrown as CliErrors with the core's message. */
export type KeyApi = {
  list(connector?: string): Promise<ApiKeyList>;
  create(key: NewApiKey): Promise<ApiKeyCreated>;
  revoke(name: string, connector?: string): Promise<ApiKeyRevoked>;
};

export function createKeyApi(settings: CliSettings): KeyApi {
  const ask = async <T>(help: RefusalHelp, path: string, request: { method?: string; body?: object } = {}): Promise<T> => {
    const answer = await askCore<T>(`${coreUrl(settings)}/v2/keys${path}`, { ...request, timeoutMs });
    if (answer.ok) return answer.body;
    throw refusal(answer.body, help);
  };
  const of = (connector?: string) => (connector === undefined ? '' : `?connector=${encodeURIComponent(connector)}`);

  return {
    list: (connector) => ask({ what: 'the keys cannot be listed.', run: './svc connector' }, of(connector)),
    create: (key) => ask({ what: 'no key was made.', run: './svc key create --help' }, '', { body: key }),
    revoke: (name, connector) =>
      ask({ what: 'no key was revoked.', run: './svc key' }, `/${encodeURIComponent(name)}${of(connector)}`, {
        method: 'DELETE',
      }),
  };
}
