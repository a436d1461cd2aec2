import { isChatModel } from '@svc/engine-kit/chat-model.ts';
import { http } from '@svc/service-kit/builtin.ts';
import type { Endpoint } from './thread-config.ts';

const timeoutMs = 3000;
const maxListLength = 1024 * 1024;

/** The first model to talk to that an endpoint lists, for settings that name none: the vendor's default is unknown there. Null when it lists none. */
export function endpointModel({ url, token }: Endpoint): Promise<string | null> {
  return new Promise((resolve) => {
    const call = http.get(`${url}/models`, { headers: { authorization: `Bearer ${token}` }, timeout: timeoutMs }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > maxListLength) call.destroy();
      });
      answer.on('close', () => resolve(firstModel(text)));
    });
    call.on('timeout', () => call.destroy());
    call.on('error', () => resolve(null));
  });
}

function firstModel(text: string): string | null {
  try {
    const list = JSON.parse(text) as { data?: { id?: unknown }[] };
    const ids = (list.data ?? []).map(({ id }) => id).filter((id) => typeof id === 'string');
    return ids.find(isChatModel) ?? null;
  } catch {
    return null;
  }
}
