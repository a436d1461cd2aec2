import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { ApiError, badRequest, type ApiCall } from './api-types.ts';
import { botMethods } from './methods/bot-methods.ts';
import { changeMethods } from './methods/change-methods.ts';
import { sendMethods } from './methods/send-methods.ts';
import type { Methods, Platform } from './methods/method-table.ts';
import { readParams, readRequest } from './read-call.ts';

/** A request of the bot and its answer; without a status when there was none. */
export type RecordedCall = {
  method: string;
  params: Record<string, unknown>;
  /** Its time, by the monotonic clock. */
  at: number;
  status: number | null;
  description?: string;
  /** Ids of the messages that it created or changed. */
  made: number[];
  /** Whether the answer was sent completely, and was true. */
  isAnswered: boolean;
};

export type ReadCall = ApiCall & { record: RecordedCall };

/** Reads, checks, records and runs the calls of the bot. */
export type Calls = {
  recorded: RecordedCall[];
  /** The call, or the error that answers it. */
  read(request: IncomingMessage, name: string, gone: Promise<unknown>): Promise<ReadCall | ApiError>;
  run(call: ReadCall): Promise<unknown>;
};

const methods: Methods = { ...botMethods, ...sendMethods, ...changeMethods };

export function createCalls(platform: Platform): Calls {
  const { bot, description, note } = platform;
  const recorded: RecordedCall[] = [];

  const methodNamed = (name: string): string | undefined => {
    const method = description.methodNamed(name);
    if (method === undefined) note(`no method ${name}`);
    else if (methods[method] === undefined) note(`${method}: this server does not have it`);
    else if (method !== 'sendMessageDraft' || bot.hasDrafts) return method;
    return undefined;
  };

  return {
    recorded,
    read: (request, name, gone) =>
      orError(async () => {
        const read = await readRequest(request);
        const method = methodNamed(name);
        if (method === undefined) throw new ApiError(404, 'Not Found');
        const { params, files } = readParams(read, method, description);
        const record: RecordedCall = { method, params, at: performance.now(), status: null, made: [], isAnswered: false };
        recorded.push(record);
        return { method, params, files, gone, record };
      }),
    async run(call) {
      const result = await orError(async () => {
        const faults = description.callFaults(call.method, call.params);
        for (const fault of faults) note(`${call.method} ${fault}`);
        refuseFaults(faults);
        const answer = await methods[call.method]?.(platform, call);
        for (const fault of description.answerFaults(call.method, answer)) note(`answer to ${call.method} ${fault}`);
        return answer;
      });
      if (!(result instanceof ApiError)) call.record.made = [result].flat().flatMap(idOf);
      call.record.status = result instanceof ApiError ? result.status : 200;
      if (result instanceof ApiError) call.record.description = result.message;
      return result;
    },
  };
}

const idOf = (result: unknown): number[] =>
  typeof result === 'object' && result !== null && 'message_id' in result ? [Number(result.message_id)] : [];

/** Unknown parameters are ignored, as by the real API. */
function refuseFaults(faults: readonly string[]): void {
  const [first] = faults.filter((fault) => !fault.startsWith('unknown: '));
  if (first === undefined) return;
  throw badRequest(first === 'missing: text' ? 'message text is empty' : first.replace('missing: chat_id', 'chat_id is empty'));
}

async function orError<T>(work: () => Promise<T>): Promise<T | ApiError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
