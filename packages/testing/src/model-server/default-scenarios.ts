import { pause } from './gate.ts';
import type { ModelRequest } from './model-request.ts';
import type { ScriptedReply, ScriptedStep } from './scripted-reply.ts';

const words = 'Hello from the scripted model, this is a streamed reply.'.split(/(?<= )/);

/**
 * The model's replies without a script: the last keyword in the user's text picks the scenario, so that a person
 * (or an end-to-end test) can steer the model through any channel.
 */
export function defaultScenario(request: ModelRequest): ScriptedReply {
  if (request.toolResults.length > 0) return text(`Tool said: ${request.toolResults.join(' ').slice(0, 400)}`);
  const keyword = request.userText.match(/\b(SLOW|THINK|USE_TOOL|FAIL429|FAIL401)\b/g)?.at(-1);
  switch (keyword) {
    case 'SLOW':
      return { steps: [{ text: Array.from({ length: 100 }, (_, i) => [`w${i} `, pause(200)]).flat() }] };
    case 'THINK':
      return { steps: [{ thinking: ['let me ', 'think ', 'about it'] }, { text: words }] };
    case 'USE_TOOL':
      return { steps: [{ tool: wantedTool(request), input: wantedInput(request) }] };
    case 'FAIL429':
      return { status: 429, kind: 'rate_limit_error', message: 'scripted limit', headers: { 'retry-after': '7' } };
    case 'FAIL401':
      return { status: 401, kind: 'authentication_error', message: 'scripted: invalid key' };
    default:
      return { steps: [{ text: words }] };
  }
}

const text = (value: string): ScriptedReply => ({ steps: [{ text: value } satisfies ScriptedStep] });

/** `USE_TOOL name` picks the tool; without a name, any echo tool. */
const wantedTool = (request: ModelRequest): RegExp => {
  const name = /USE_TOOL[ \t]+([A-Za-z][\w-]*)/.exec(request.userText)?.[1];
  return name === undefined ? /echo/i : new RegExp(name, 'i');
};

/** `USE_TOOL name {json}` gives the input. */
function wantedInput(request: ModelRequest): Record<string, unknown> {
  const json = /USE_TOOL[ \t]+[A-Za-z][\w-]*[ \t]+(\{.*\})/.exec(request.userText)?.[1];
  try {
    return json === undefined ? { text: 'ping' } : (JSON.parse(json) as Record<string, unknown>);
  } catch {
    return { text: json };
  }
}
