import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { listen } from './listen.ts';

/** What it does in place of answering: an error status, silence, or an invalid answer. */
export type Mishap = { status: number; headers?: Record<string, string> } | 'hang' | 'nonsense' | 'cut';

const categories = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
];

/** Texts that contain this are flagged as violence. */
export const flaggedWord = 'violent-words';

export type ModerationServer = {
  /** The value for the service's base URL. */
  baseUrl: string;
  /** The received requests, in order. */
  requests: { authorization: string | undefined; model: unknown; input: string[] }[];
  /** The faults of the next requests, one each. */
  mishaps: Mishap[];
  close(): Promise<void>;
};

/**
 * Stands in for OpenAI's `POST /v1/moderations`, according to its reference: one text or a list of them in, a result
 * with all categories for each. It requires `key` as the bearer token.
 */
export async function startModerationServer(key: string): Promise<ModerationServer> {
  const requests: ModerationServer['requests'] = [];
  const mishaps: Mishap[] = [];
  const server = http.createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { authorization } = request.headers;
    if (request.method !== 'POST' || request.url !== '/v1/moderations') return refuse(response, 404, 'not_found');
    const { model, input } = JSON.parse(text) as { model?: unknown; input: string | string[] };
    const inputs = [input].flat();
    requests.push({ authorization, model, input: inputs });
    const mishap = mishaps.shift();
    if (mishap === 'hang') return;
    if (mishap === 'cut') return void response.destroy();
    if (mishap === 'nonsense') return reply(response, 200, { id: 'modr-1', results: [{}] });
    if (mishap !== undefined) return refuse(response, mishap.status, 'server_error', mishap.headers);
    if (authorization !== `Bearer ${key}`) return refuse(response, 401, 'invalid_api_key');
    reply(response, 200, { id: 'modr-1', model, results: inputs.map(toResult) });
  }

  const { url, close } = await listen(server);
  return { baseUrl: `${url}/v1`, requests, mishaps, close };
}

function toResult(text: string) {
  const flagged = text.includes(flaggedWord);
  const by = <T>(value: (category: string) => T) => Object.fromEntries(categories.map((category) => [category, value(category)]));
  return {
    flagged,
    categories: by((category) => flagged && category === 'violence'),
    category_scores: by((category) => (flagged && category === 'violence' ? 0.98 : 0.000_01)),
    category_applied_input_types: by(() => ['text']),
  };
}

const refuse = (response: ServerResponse, status: number, code: string, headers = {}) =>
  reply(response, status, { error: { message: `refused: ${code}`, type: 'invalid_request_error', param: null, code } }, headers);

function reply(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
