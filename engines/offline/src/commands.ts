import { setTimeout as sleep } from 'node:timers/promises';
import { errorCodes, type ErrorCode } from '@svc/contract/error-body.ts';
import type { EngineEvent, EngineFailure, EngineRequest } from '@svc/engine-kit/engine.ts';
import { callTool, toolNames } from './tools.ts';

type Command = (argument: string, request: EngineRequest, signal: AbortSignal) => AsyncIterable<EngineEvent>;

const maxLines = 10_000;
const maxWaitSeconds = 600;

const commands: Record<string, Command> = { echo, wait, count, think, tool, context, fail };

/** The command a message begins with, bound to the rest of the message; null when it is none. */
export function findCommand(text: string): ((request: EngineRequest, signal: AbortSignal) => AsyncIterable<EngineEvent>) | null {
  const match = /^\s*([a-z]+)(?:\s+([\s\S]*))?$/.exec(text);
  const command = match === null || !Object.hasOwn(commands, match[1]!) ? undefined : commands[match[1]!];
  return command === undefined ? null : (request, signal) => command(match?.[2]?.trim() ?? '', request, signal);
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
async function* wait(argument: string, _request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
  const [, seconds = '0', text = ''] = /^(\d+(?:\.\d+)?)\s*([\s\S]*)$/.exec(argument) ?? [];
  await sleep(Math.min(Number(seconds), maxWaitSeconds) * 1000, undefined, { signal });
  yield* say(text === '' ? `Waited ${seconds} s.` : text);
}

/** `count N`: N lines, one delta each. */
async function* count(argument: string, _request: EngineRequest, signal: AbortSignal): AsyncGenerator<EngineEvent> {
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
async function* tool(argument: string, request: EngineRequest): AsyncGenerator<EngineEvent> {
  const [, name = '', json = ''] = /^(\S+)\s*([\s\S]*)$/.exec(argument) ?? [];
  const input = parseInput(json);
  const id = `tool_${name}`;
  if (!toolNames(request).includes(name)) {
    yield* say(`There is no tool "${name}" in this turn. There is: ${toolNames(request).join(', ') || 'none'}.`);
    return;
  }
  yield { type: 'tool', id, name, input };
  const { ok, output } = callTool(name, input);
  yield { type: 'tool_result', id, ok, output };
  yield* say(`${name} said: ${output}`);
}

/** `context`: answers with everything this engine was given. */
async function* context(_argument: string, request: EngineRequest): AsyncGenerator<EngineEvent> {
  const { prompt, system, attachments, transcript, resume, model, cwd, toolPolicy, facts } = request;
  const given = { system, prompt, transcript, attachments, resume, model, cwd, toolPolicy, tools: toolNames(request), facts };
  yield* say(JSON.stringify(given, null, 2));
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
