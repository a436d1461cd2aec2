import { http } from '@svc/service-kit/builtin.ts';
import { listen } from '../listen.ts';

export type FakeModel = { name: string; families?: string[]; capabilities?: string[] };
export type FakeOllama = {
  /** With `/v1`. */
  url: string;
  /** Method and path of every request, in order. */
  requests: string[];
  models: FakeModel[];
  close(): Promise<void>;
};

type Options = {
  port?: number;
  models?: FakeModel[];
  /** False as before Ollama 0.13: no Responses protocol. */
  responses?: boolean;
  /** What every conversation is answered with. */
  answer?: string;
};

/** A server that speaks as Ollama does: `/api/tags`, `/v1/models`, `/v1/responses` with one scripted answer. */
export async function startFakeOllama(options: Options = {}): Promise<FakeOllama> {
  const { port = 0, responses = true, answer = 'Hello from a model.' } = options;
  const requests: string[] = [];
  const models = options.models ?? [
    { name: 'nomic-embed-text:latest', families: ['nomic-bert'] },
    { name: 'llama3.2:3b', families: ['llama'] },
  ];
  const server = http.createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    requests.push(`${request.method} ${path}`);
    const json = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      if (path === '/v1/models')
        return json(200, {
          object: 'list',
          data: models.map(({ name }) => ({ id: name, object: 'model', owned_by: 'library' })),
        });
      if (path === '/api/tags') return json(200, { models: models.map(toTag) });
      if (path !== '/v1/responses' || !responses) return void response.writeHead(404).end('404 page not found');
      const { model } = JSON.parse(text || '{}') as { model?: string };
      if (model === undefined) return json(400, { error: { message: 'model is required', type: 'invalid_request_error' } });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of answerEvents(model, answer)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
  });
  const { url, close } = await listen(server, port);
  return { url: `${url}/v1`, requests, models, close };
}

const toTag = ({ name, families = ['llama'], capabilities }: FakeModel) => ({
  name,
  model: name,
  details: { family: families[0], families },
  ...(capabilities !== undefined && { capabilities }),
});

function answerEvents(model: string, answer: string): ({ type: string } & Record<string, unknown>)[] {
  const item = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: answer, annotations: [] }],
  };
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  const response = { id: 'resp_1', object: 'response', model, status: 'completed', output: [item], usage };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: answer },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ];
}
