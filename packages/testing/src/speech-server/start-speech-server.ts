import { http, type ServerResponse } from '@svc/service-kit/builtin.ts';
import { listen } from '../listen.ts';
import type { Gate } from '../model-server/gate.ts';
import { answerElevenlabs } from './elevenlabs-speech.ts';
import { answerOpenai } from './openai-speech.ts';
import { readSpeechRequest, type SpeechAnswer, type SpeechRequest } from './speech-request.ts';

export type SpeechServerOptions = {
  port?: number;
  /** The required key; none by default. */
  key?: string;
};

export type SpeechServer = {
  /** Root of the server: OpenAI's clients take it with `/v1` behind it, those of ElevenLabs as it is. */
  url: string;
  requests: SpeechRequest[];
  /** The answers of the next requests, one by one, in place of those of their routes. */
  next(...answers: SpeechAnswer[]): void;
  /** Answers wait here before their headers; null removes the gate. */
  gate: Gate | null;
  /** Audio waits here when half of it is sent. */
  middle: Gate | null;
  /** Cuts connections when half of the audio is sent. */
  isCutting: boolean;
  /** The number of requests whose answer is not finished. */
  readonly open: number;
  close(): Promise<void>;
};

/** Starts a speech server on loopback that answers as OpenAI and ElevenLabs do. Its audio contains the spoken text. */
export async function startSpeechServer({ port = 0, key }: SpeechServerOptions = {}): Promise<SpeechServer> {
  const queue: SpeechAnswer[] = [];
  let open = 0;
  const server = http.createServer((incoming, response) => {
    const gone = new AbortController();
    open++;
    response.on('close', () => {
      open--;
      gone.abort();
    });
    const answer = async () => {
      const request = await readSpeechRequest(incoming);
      fake.requests.push(request);
      await fake.gate?.wait(gone.signal);
      if (gone.signal.aborted) return;
      const own = () => answerOpenai(request, key ?? null) ?? answerElevenlabs(request, key ?? null);
      await send(response, queue.shift() ?? own() ?? noRoute, fake, gone.signal);
    };
    answer().catch((error: unknown) => response.destroy(error as Error));
  });
  const { url, close } = await listen(server, port);
  const fake: SpeechServer = {
    url,
    requests: [],
    next: (...answers) => void queue.push(...answers),
    gate: null,
    middle: null,
    isCutting: false,
    get open() {
      return open;
    },
    close,
  };
  return fake;
}

const noRoute: SpeechAnswer = { status: 404, json: { detail: 'Not Found' } };

async function send(response: ServerResponse, answer: SpeechAnswer, fake: SpeechServer, signal: AbortSignal): Promise<void> {
  if ('json' in answer) {
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(JSON.stringify(answer.json));
  } else if ('text' in answer) {
    response.writeHead(answer.status, { 'content-type': 'text/html' }).end(answer.text);
  } else {
    const half = Math.floor(answer.audio.length / 2);
    response.writeHead(200, { 'content-type': answer.mime });
    await new Promise((sent) => void response.write(answer.audio.subarray(0, half), sent));
    await fake.middle?.wait(signal);
    if (fake.isCutting) response.destroy();
    else response.end(answer.audio.subarray(half));
  }
}
