import path from 'node:path';
import { Readable } from 'node:stream';
import type { PartialEvent } from '@svc/contract/event.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import { createFileState } from '../state/file-state.ts';
import type { SpeechApi, StartContext, TriageApi } from '../connector.ts';
import { createFakeCore, type FakeCore } from './fake-core.ts';
import { createFakeUploads, type SavedFile } from './fake-uploads.ts';

export type FakeContext = {
  context: StartContext;
  core: FakeCore;
  /** Aborts the context's `signal`, as the end of the process does. */
  shutdown: AbortController;
  logs: string[];
  events: PartialEvent[];
  saved: SavedFile[];
  /** Names of the secrets that were requested. */
  asked: string[];
  /** How many heartbeats the connector has sent itself. */
  beats(): number;
};

type Fields = Pick<StartContext, 'type' | 'dataDir' | 'config'> & Partial<StartContext>;

/** A start context for tests: a scripted core and the given secrets; all other calls are recorded. */
export function fakeContext(fields: Fields, secrets: Readonly<Record<string, string>> = {}): FakeContext {
  const core = createFakeCore();
  const shutdown = new AbortController();
  const [logs, events, saved, asked]: [string[], PartialEvent[], SavedFile[], string[]] = [[], [], [], []];
  let beats = 0;
  const context: StartContext = {
    instanceId: 'inst_1',
    instanceName: 'A test',
    assistantName: 'assistant',
    version: {
      service: fields.type,
      version: '0.0.0',
      channel: 'stable',
      sha: 'unknown',
      started_at: 0,
      node: process.versions.node,
    },
    connectorDir: fields.dataDir,
    allowedHosts: [],
    packages: null,
    stopTimeoutMs: 2_000,
    core,
    secrets: {
      async get(name) {
        asked.push(name);
        const value = secrets[name];
        if (value === undefined) throw new Error(`There is no secret "${name}".`);
        return value;
      },
    },
    uploads: createFakeUploads(saved),
    state: createFileState(path.join(fields.dataDir, 'state.jsonl'), () => undefined),
    // A copy: tests replace its parts, and files share a process.
    speech: { ...fakeSpeech },
    triage: fakeTriage,
    emit: (event) => void events.push(event),
    log: (level, message, more) => void logs.push(JSON.stringify({ level, message, ...more })),
    heartbeat: () => void beats++,
    signal: shutdown.signal,
    outboundAccess: { token: 'a-token-of-the-manager', proof: 'a-proof-of-the-child', onMount: () => undefined },
    ...fields,
  };
  return { context, core, shutdown, logs, events, saved, asked, beats: () => beats };
}

/** `speak` returns its input, and `hear` returns the clip's bytes as text. */
const fakeSpeech: SpeechApi = {
  speak: async (request) => ({ mime: 'audio/mpeg', body: Readable.from([Buffer.from(JSON.stringify(request))]) }),
  transcribe: async ({ data, model = 'm', language = null }) => ({
    ok: true,
    text: data.toString('utf8'),
    language,
    seconds: 1,
    provider: 'fake',
    model,
  }),
};

/** Chooses the first possible answer of each field. */
const fakeTriage: TriageApi = async ({ answer }) =>
  Object.fromEntries(Object.entries(answer).map(([name, { type, enum: words }]) => [name, firstOf[type](words?.[0] ?? '')]));

const firstOf = {
  string: (word: string) => word,
  strings: (word: string) => (word === '' ? [] : [word]),
  boolean: () => false,
  integer: () => 0,
  number: () => 0,
};

/** The defaults of a schema, as the manager fills them in. */
export const defaultsOf = ({ configSchema }: ConnectorMeta): Record<string, unknown> =>
  Object.fromEntries(Object.entries(configSchema.properties).map(([name, field]) => [name, field.default]));
