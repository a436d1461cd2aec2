import { isRecord } from '@svc/contract/json-value.ts';
import { refuse } from './completion-error.ts';

type Body = Record<string, unknown>;
/**
 * `read`: another file reads it. `harmless`: ignoring it changes no answer. `hint`: a request that is not followed. A function throws for
 * an unsupported value.
 */
type Rule = 'read' | 'harmless' | 'hint' | ((value: unknown, body: Body) => void);

/** The fields of a request of one protocol. */
export type Rules = Readonly<Record<string, Rule>>;

/** The fields of a chat completion. The table in docs/api.md documents them for callers. */
export const requestFields: Rules = {
  messages: 'read',
  model: 'read',
  stream: 'read',
  stream_options: 'read',
  stop: 'read',
  response_format: 'read',

  metadata: 'harmless',
  parallel_tool_calls: 'harmless',
  prediction: 'harmless',
  prompt_cache_key: 'harmless',
  prompt_cache_options: 'harmless',
  prompt_cache_retention: 'harmless',
  safety_identifier: 'harmless',
  user: 'harmless',

  frequency_penalty: 'hint',
  max_completion_tokens: 'hint',
  max_tokens: 'hint',
  presence_penalty: 'hint',
  reasoning_effort: 'hint',
  seed: 'hint',
  service_tier: 'hint',
  store: 'hint',
  temperature: 'hint',
  top_p: 'hint',
  verbosity: 'hint',

  n: (n) => only(n === 1, 'n', "only one choice is generated, so 'n' must be 1"),
  logprobs: (value) => only(value === false, 'logprobs', 'token probabilities are not available'),
  top_logprobs: (value) => only(value === 0, 'top_logprobs', 'token probabilities are not available'),
  logit_bias: (value) => only(isRecord(value) && isEmpty(value), 'logit_bias', 'token weights cannot be changed'),
  audio: () => only(false, 'audio', 'answers are text; use POST /v1/audio/speech to turn one into speech'),
  modalities: (value) =>
    only(isTextAlone(value), 'modalities', 'answers are text; use POST /v1/audio/speech to turn one into speech'),
  moderation: () => only(false, 'moderation', 'moderation scores are not available'),
  web_search_options: () =>
    only(false, 'web_search_options', 'the assistant searches with its own tools and returns no list of citations'),
  tools: (value, body) => refuseTools('tools', value, body),
  functions: (value, body) => refuseTools('functions', value, body),
  tool_choice: (value) => only(value === 'none' || value === 'auto', 'tool_choice', noCalls),
  function_call: (value) => only(value === 'none' || value === 'auto', 'function_call', noCalls),
};

const noCalls =
  'the assistant uses its own tools and does not call functions of the caller; its operator can add yours as a tool server';

/** Maximum number of names returned: a caller could send any number. */
const maxNames = 32;

/**
 * Checks all fields of a request. Returns those without effect that the caller may expect to have one, including unknown ones.
 * @throws ServiceError `unsupported_parameter` for a field that must not be ignored, because the answer would mean something else
 */
export function checkFields(body: Body, rules: Rules = requestFields): string[] {
  const ignored: string[] = [];
  for (const name in body) {
    const value = body[name];
    if (value === null || value === undefined) continue;
    const rule = Object.hasOwn(rules, name) ? rules[name] : 'hint';
    if (typeof rule === 'function') rule(value, body);
    else if (rule === 'hint' && ignored.length < maxNames && /^[\w.-]{1,64}$/.test(name)) ignored.push(name);
  }
  return ignored;
}

/** @throws ServiceError for the caller's own tools, unless the request itself forbids their use */
export function refuseTools(param: string, value: unknown, body: Body): void {
  only((Array.isArray(value) && value.length === 0) || areForbidden(body), param, noCalls);
}

/** @throws ServiceError `unsupported_parameter` unless the value is supported */
export function only(isFine: boolean, param: string, why: string): void {
  if (!isFine) throw refuse(param, `'${param}' is not supported: ${why}.`, 'unsupported_parameter');
}

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
const isTextAlone = (value: unknown): boolean => Array.isArray(value) && value.every((each) => each === 'text');
/** The caller itself forbids calls, so its functions have no effect. */
const areForbidden = ({ tool_choice: tool, function_call: call }: Body): boolean => tool === 'none' || call === 'none';
