import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorCode, errorCodes } from '@svc/contract/error-body.ts';
import type { EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import type { ToolOutcome } from '@svc/engine-kit/tool-client/messages.ts';
import { askPermission, whyDenied, yesNo } from '@svc/engine-kit/ask-permission.ts';
import { clockName, findTool, type openTurnTools, readClock, serverOf, type ToolPlace, type TurnTools } from './tools.ts';

/** What a command works with: its turn, and where it would start tool servers. */
type Given = { request: EngineRequest; signal: AbortSignal; place: ToolPlace };
type Command = (argument: string, given: Given) => AsyncIterable<EngineEvent>;

const maxLines = 10_000;
const maxWaitSeconds = 600;

const commands: Record<string, Command> = { echo, wait, count, think, tool, ask, context, fail };

/** The command a message begins with, bound to the rest of the message; null when it begins with none. */
export function findCommand(
  text: string,
  place: ToolPlace = { env: {}, stateDir: '' },
): ((request: EngineRequest, signal: AbortSignal) => AsyncIterable<EngineEvent>) | null {
  const [name, argument] = parseCommand(text);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return command === undefined ? null : (request, signal) => command(argument, { request, signal, place });
}

/** Whether a message asks for tools: all others are answered without a look at any tool server. */
export const asksForTools = (text: string): boolean => ['tool', 'context'].includes(parseCommand(text)[0]);

function parseCommand(text: string): [name: string, argument: string] {
  const [, name = '', argument = ''] = /^\s*([a-z]+)(?:\s+([\s\S]*))?$/.exec(text) ?? [];
  return [name, argument.trim()];
}

/** Streams a text word by word and closes its block. */
export async function* say(text: string): AsyncGenerator<EngineEvent> {
  for (const word of text.split(/(?<= )/)) yield { type: 'delta', text: word };
  yield { type: 'segment', text };
}

/** `echo TEXT`. */
async function* echo(text: string): AsyncGenerator<EngineEvent> {
  yield* say(text);
}

/** `wait SECONDS TEXT`: answers later, or never when it is stopped. */
async function* wait(argument: string, { signal }: Given): AsyncGenerator<EngineEvent> {
  const [, seconds = '0', text = ''] = /^(\d+(?:\.\d+)?)\s*([\s\S]*)$/.exec(argument) ?? [];
  await sleep(Math.min(Number(seconds), maxWaitSeconds) * 1000, undefined, { signal });
  yield* say(text === '' ? `Waited ${seconds} s.` : text);
}

/** `count N`: N lines, one delta each. */
async function* count(argument: string, { signal }: Given): AsyncGenerator<EngineEvent> {
  const lines = Math.min(Number.parseInt(argument, 10) || 0, maxLines);
  let text = '';
  for (let line = 1; line <= lines; line++) {
    if (line % 100 === 0) await sleep(0, undefined, { signal });
    const next = `${line}\n`;
    text += next;
    yield { type: 'delta', text: next };
  }
  yield { type: 'segment', text };
}

/** `think TEXT`: shows TEXT as thinking, then answers. */
async function* think(text: string): AsyncGenerator<EngineEvent> {
  for (const word of text.split(/(?<= )/)) yield { type: 'thinking', text: word };
  yield* say('I have thought about it.');
}

/** `tool NAME {json}`: calls a tool of this turn and answers with its result. */
async function* tool(argument: string, { request, place, signal }: Given): AsyncGenerator<EngineEvent> {
  const [, name = '', json = ''] = /^(\S+)\s*([\s\S]*)$/.exec(argument) ?? [];
  const input = parseInput(json);
  if (name === clockName && request.toolPolicy !== 'none')
    return yield* showCall(name, input, () => askedFirst(request, { name, input, isSafe: true }, async () => readClock(input)));
  const tools = await openTools(request, place, signal, serverOf(name, request.toolServers));
  try {
    const { tools: offered, missing } = await tools.list();
    yield* missing;
    const found = findTool(name, offered, ownTools(request));
    if ('answer' in found) return yield* say(found.answer);
    const { fullName, server } = found.tool;
    const isSafe = request.toolServers.some((one) => one.name === server && one.safe);
    yield* showCall(fullName, input, () =>
      askedFirst(request, { name: fullName, input, isSafe }, () => tools.call(found.tool, input)),
    );
  } finally {
    await tools.close();
  }
}

/** Does what the person has allowed, where they are to be asked about it. */
async function askedFirst(
  { asks, ask }: EngineRequest,
  { name, input, isSafe }: { name: string; input: unknown; isSafe: boolean },
  call: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  if (ask === undefined || (asks === 'dangerous' && isSafe)) return call();
  const permission = await askPermission(ask, { what: `May the assistant use ${name}?`, detail: JSON.stringify(input) });
  return permission.allowed ? call() : { ok: false, output: permission.why };
}

async function* showCall(name: string, input: unknown, call: () => Promise<ToolOutcome>): AsyncGenerator<EngineEvent> {
  const id = `tool_${name}`;
  yield { type: 'tool', id, name, input };
  const { ok, output } = await call();
  yield { type: 'tool_result', id, ok, output };
  yield* say(`${name} said: ${output}`);
}

/** `ask QUESTION | ANSWER | ANSWER`: asks the person, and says what they have answered; yes or no, where there are no answers. */
async function* ask(argument: string, { request }: Given): AsyncGenerator<EngineEvent> {
  if (request.ask === undefined)
    return yield* say(
      'Nobody is asked in this turn, because the role of the sender says "never" (./svc role set ROLE --asks dangerous).',
    );
  const [text = '', ...labels] = argument.split('|').map((part) => part.trim());
  const options = labels.length === 0 ? yesNo : labels.map((label, at) => ({ id: `answer-${at + 1}`, label }));
  const answer = await request.ask({ text, options });
  const label = options.find(({ id }) => id === answer.option)?.label;
  yield* say(label === undefined ? `No answer. ${whyDenied(answer)}` : `You answered: ${label}`);
}

/** `context`: answers with everything this engine was given, and what the tool servers of the turn offer. */
async function* context(_argument: string, { request, place, signal }: Given): AsyncGenerator<EngineEvent> {
  const { prompt, system, attachments, transcript, resume, model, cwd, toolPolicy, facts } = request;
  const servers = await openTools(request, place, signal);
  try {
    const { tools: offered, missing } = await servers.list();
    yield* missing;
    const tools = [...ownTools(request), ...offered.map(({ fullName }) => fullName)];
    const given = { system, prompt, transcript, attachments, resume, model, cwd, toolPolicy, tools, facts };
    yield* say(JSON.stringify(given, null, 2));
  } finally {
    await servers.close();
  }
}

const ownTools = ({ toolPolicy }: EngineRequest): string[] => (toolPolicy === 'none' ? [] : [clockName]);

/** Loaded by the first turn that wants tools. */
async function openTools(...given: Parameters<typeof openTurnTools>): Promise<TurnTools> {
  return (await import('./tools.ts')).openTurnTools(...given);
}

/** `fail CODE`: ends the turn with a failure, as a real engine would. */
async function* fail(argument: string): AsyncGenerator<EngineEvent> {
  const code = failures.find((known) => known === `engine_${argument}` || known === argument) ?? 'engine_failed';
  yield { type: 'failed', failure: { code, message: `You asked the offline engine to fail with ${code}.`, retryable: false } };
}

const isEngineCode = (code: ErrorCode): code is EngineFailure['code'] => code.startsWith('engine_');
const failures = errorCodes.filter(isEngineCode);

function parseInput(json: string): unknown {
  if (json === '') return {};
  try {
    return JSON.parse(json);
  } catch {
    return { text: json }; // words instead of JSON: what a person types first
  }
}
