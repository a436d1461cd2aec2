import { isRecord } from '@svc/contract/json-value.ts';
import { startLineProcess, type LineProcess, type LineProcessSpec } from '@svc/engine-kit/line-process.ts';

export type Notification = { method: string; params: Record<string, unknown> };

export type RpcClient = {
  /** Calls a method; rejects with `RpcError`, after `timeoutMs`, or when the process ends. */
  request<Result>(method: string, params: object, timeoutMs?: number): Promise<Result>;
  notify(method: string): void;
  readonly pid: number | undefined;
  readonly ended: LineProcess['ended'];
  readonly ending: LineProcess['ending'];
  stop(): Promise<void>;
  /** Ends the process and all its child processes at once. */
  kill(): Promise<void>;
  endOrphans: LineProcess['endOrphans'];
};

/** An error response, with its code. */
export class RpcError extends Error {
  readonly code: number;

  constructor(method: string, error: unknown) {
    const { code, message } = asObject(error);
    super(typeof message === 'string' ? message : `codex refused ${method}`);
    this.name = `RpcError(${method})`;
    this.code = Number(code);
  }
}

type Spec = Omit<LineProcessSpec, 'onMessage'> & {
  onNotification(notification: Notification): void;
  /** Answers a request of the other side. Never rejects. */
  onRequest(request: Notification): object | Promise<object>;
};

type Pending = { resolve(value: unknown): void; reject(error: Error): void; method: string; timer: NodeJS.Timeout };

const defaultTimeoutMs = 30_000;

/** A JSON-RPC client over a program's stdin and stdout, one message per line. */
export function startRpcClient(spec: Spec): RpcClient {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let gone: string | null = null;
  const child = startLineProcess({ ...spec, onMessage: (message) => receive(message) });

  const receive = (message: Record<string, unknown>) => {
    if (typeof message.method === 'string') {
      const said = { method: message.method, params: asObject(message.params) };
      if (message.id === undefined) spec.onNotification(said);
      else void Promise.resolve(spec.onRequest(said)).then((result) => child.send({ id: message.id, result }));
      return;
    }
    const call = pending.get(Number(message.id));
    if (!call) return;
    pending.delete(Number(message.id));
    clearTimeout(call.timer);
    if (message.error === undefined || message.error === null) call.resolve(message.result);
    else call.reject(new RpcError(call.method, message.error));
  };

  void child.ended.then(({ reason }) => {
    gone = reason;
    for (const call of pending.values()) {
      clearTimeout(call.timer);
      call.reject(new Error(reason));
    }
    pending.clear();
  });

  return {
    pid: child.pid,
    ended: child.ended,
    ending: child.ending,
    stop: child.stop,
    kill: child.kill,
    endOrphans: child.endOrphans,
    notify: (method) => child.send({ method }),
    request: <Result>(method: string, params: object, timeoutMs = defaultTimeoutMs) =>
      new Promise<Result>((resolve, reject) => {
        if (gone !== null) return reject(new Error(gone));
        const id = ++lastId;
        const timer = setTimeout(() => {
          pending.delete(id);
          reject(new Error(`codex did not respond to ${method} within ${timeoutMs / 1000} s`));
        }, timeoutMs);
        // The cast: the protocol defines the form of an answer; important fields are checked where they are used.
        pending.set(id, { resolve: resolve as (value: unknown) => void, reject, method, timer });
        child.send({ id, method, params });
      }),
  };
}

const asObject = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
