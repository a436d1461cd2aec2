import { isRecord } from '@svc/contract/json-value.ts';
import { http, type IncomingMessage, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { listen } from '../listen.ts';
import { defaultScenario } from './default-scenarios.ts';
import { googleError, parseGoogleRequest, streamGoogle, wholeGoogle } from './google-api.ts';
import { parseMessagesRequest, streamMessage, wholeMessage } from './messages-api.ts';
import type { ModelRequest } from './model-request.ts';
import { parseResponsesRequest, streamResponse, wholeResponse } from './responses-api.ts';
import type { Script, ScriptedReply } from './scripted-reply.ts';
import { openSseStream } from './sse-stream.ts';

export type ModelServerOptions = {
  port?: number;
  /** Refuses tools of any type but `function`, as self-hosted Responses servers do. */
  strictTools?: boolean;
};

export type ModelServer = {
  /** Root of the server. Messages and Google clients take it as it is, Responses clients with `/v1` behind it. */
  url: string;
  /** Every model request so far, in order of arrival. */
  requests: ModelRequest[];
  /** Sets the replies from now on: a function, or a list that is used up one by one. The keywords decide the rest. */
  script(replies: Script | readonly ScriptedReply[]): void;
  /** Settles with the next request that matches, or with an earlier one. */
  waitForRequest(test: (request: ModelRequest) => boolean): Promise<ModelRequest>;
  /** The number of requests whose reply is not finished. */
  readonly open: number;
  close(): Promise<void>;
};

/** Starts a model server on loopback that speaks the Messages, the Responses and the Google protocol and replies as its script says. */
export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const waiting = new Set<(request: ModelRequest) => void>();
  let script: Script = () => undefined;
  let open = 0;
  const answer = async (request: ModelRequest, response: ServerResponse) => {
    requests.push(request);
    for (const wake of waiting) wake(request);
    open++;
    try {
      await sendReply(request, script(request) ?? defaultScenario(request), response, options.strictTools ?? false);
    } finally {
      open--;
    }
  };
  const server = http.createServer((incoming, response) => {
    handle(incoming, response, answer).catch((error: unknown) => sendError(response, 500, 'api_error', String(error)));
  });
  const { url, close } = await listen(server, options.port);
  return {
    url,
    requests,
    script: (replies) => {
      script = typeof replies === 'function' ? replies : toScript(replies);
    },
    waitForRequest: (test) => waitFor(requests, waiting, test),
    get open() {
      return open;
    },
    close,
  };
}

async function handle(
  incoming: IncomingMessage,
  response: ServerResponse,
  answer: (request: ModelRequest, response: ServerResponse) => Promise<void>,
) {
  const path = new URL(incoming.url ?? '/', 'http://x').pathname;
  const body = await readJson(incoming);
  if (incoming.method === 'GET' && path.endsWith('/models')) return sendJson(response, 200, modelList);
  if (incoming.method !== 'POST') return sendError(response, 404, 'not_found_error', `no route ${incoming.method} ${path}`);
  if (path.endsWith('/count_tokens')) return sendJson(response, 200, { input_tokens: 42 });
  if (path.endsWith(':countTokens')) return sendJson(response, 200, { totalTokens: 42 });
  const base = { path, body, headerNames: Object.keys(incoming.headers), auth: authOf(incoming) };
  if (path.endsWith('/messages')) return answer({ api: 'messages', ...base, ...parseMessagesRequest(body) }, response);
  if (path.endsWith('/responses')) return answer({ api: 'responses', ...base, ...parseResponsesRequest(body) }, response);
  if (/\/models\/[^/]+:(streamGenerateContent|generateContent)$/.test(path)) {
    return answer({ api: 'google', ...base, ...parseGoogleRequest(path, body) }, response);
  }
  return sendError(response, 404, 'not_found_error', `no route POST ${path}`);
}

async function sendReply(request: ModelRequest, reply: ScriptedReply, response: ServerResponse, strict: boolean) {
  if ('status' in reply) return refuse(request, reply, response);
  const foreign = strict && request.api === 'responses' ? foreignTool(request) : undefined;
  if (foreign) return sendError(response, 400, 'invalid_request_error', `'type' of tool must be 'function', not '${foreign}'`);
  const { stream, whole } = protocols[request.api];
  if (!request.stream) return sendJson(response, 200, whole(request, reply));
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  await stream(openSseStream(response), request, reply, gone.signal);
}

const protocols = {
  messages: { stream: streamMessage, whole: wholeMessage },
  responses: { stream: streamResponse, whole: wholeResponse },
  google: { stream: streamGoogle, whole: wholeGoogle },
} as const;

function refuse(request: ModelRequest, reply: Extract<ScriptedReply, { status: number }>, response: ServerResponse) {
  const { status, kind, message, headers, details, fields } = reply;
  if (request.api === 'google') return sendJson(response, status, googleError(status, kind, message, details), headers);
  return sendError(response, status, kind, message, { headers, fields });
}

const foreignTool = (request: ModelRequest): string | undefined =>
  (Array.isArray(request.body.tools) ? request.body.tools : [])
    .filter(isRecord)
    .map((tool) => String(tool.type))
    .find((type) => type !== 'function');

function toScript(replies: readonly ScriptedReply[]): Script {
  const queue = [...replies];
  return () => queue.shift();
}

function waitFor(
  requests: ModelRequest[],
  waiting: Set<(request: ModelRequest) => void>,
  test: (request: ModelRequest) => boolean,
): Promise<ModelRequest> {
  const known = requests.find(test);
  if (known) return Promise.resolve(known);
  return new Promise((resolve) => {
    const check = (request: ModelRequest) => {
      if (!test(request)) return;
      waiting.delete(check);
      resolve(request);
    };
    waiting.add(check);
  });
}

async function readJson(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  let text = '';
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
  const value: unknown = text === '' ? {} : JSON.parse(text);
  return isRecord(value) ? value : {};
}

function authOf(incoming: IncomingMessage): string | null {
  const keyHeader = ['x-api-key', 'x-goog-api-key'].find((name) => incoming.headers[name] !== undefined);
  return keyHeader ?? incoming.headers.authorization?.split(' ')[0] ?? null;
}

const modelList = { object: 'list', data: [{ id: 'scripted-model', object: 'model' }], models: [] };

function sendJson(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** One body that both protocols' clients read (Google's has its own): Messages look at `error.type`, Responses at `error.code` and `error.message`. */
function sendError(
  response: ServerResponse,
  status: number,
  kind: string,
  message: string,
  { headers, fields }: { headers?: Record<string, string>; fields?: Record<string, unknown> } = {},
) {
  if (response.headersSent) return void response.destroy();
  sendJson(response, status, { type: 'error', error: { type: kind, code: kind, message, ...fields } }, headers);
}
