import type { PartialEvent } from '@svc/contract/event.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { ChildMessage, ParentMessage } from '../child-protocol.ts';

type Of<T extends ParentMessage['type']> = Extract<ParentMessage, { type: T }>;
type SecretRequest = { resolve: (value: string) => void; reject: (error: Error) => void; cancelTimer: () => void };

/** The connector's side of the IPC channel to the manager. */
export type ParentLink = {
  onStart(take: (message: Of<'start'>) => void): void;
  onStop(take: () => void): void;
  send(message: ChildMessage): void;
  /** Resolves when the message has left the process. */
  sendLast(message: ChildMessage): Promise<void>;
  /** Once a thousand events wait for the manager, further ones are dropped and counted. */
  emit(event: PartialEvent): void;
  /** Asks the manager for the value of a secret. Rejects with a message for the operator when it is unknown or not answered within 10 s. */
  getSecret(name: string): Promise<string>;
};

const secretTimeoutMs = 10_000;
const maxSecretRequests = 100;
/** Limit of events that wait for the manager; further ones are dropped to save memory. */
const maxUnsentEvents = 1_000;

export function createParentLink(clock: Clock, host: Pick<NodeJS.Process, 'send' | 'on'> = process): ParentLink {
  const requests = new Map<number, SecretRequest>();
  let serial = 0;
  let unsentEvents = 0;
  let lostEvents = 0;
  let takeStart: (message: Of<'start'>) => void = () => undefined;
  let takeStop: () => void = () => undefined;

  host.on('message', (message: ParentMessage) => {
    if (message.type === 'start') takeStart(message);
    else if (message.type === 'stop') takeStop();
    else if (message.type === 'secret') takeSecret(message);
  });

  /** Sends, and calls back when the message has left; without a channel, this process is about to end anyway. */
  function send(message: ChildMessage, done: () => void = () => undefined): void {
    if (host.send === undefined) return done();
    host.send(message, undefined, undefined, done);
  }

  function sendEvent(event: PartialEvent): void {
    unsentEvents++;
    send({ type: 'emit', event }, () => unsentEvents--);
  }

  /** Reports lost events, as the other processes do. */
  function reportLoss(): void {
    const payload = { producer: 'connector', count: lostEvents, reason: 'the manager did not read them fast enough' };
    lostEvents = 0;
    sendEvent({ kind: 'dropped', payload });
  }

  function takeSecret({ requestId, value, error }: Of<'secret'>): void {
    const request = requests.get(requestId);
    if (request === undefined) return;
    requests.delete(requestId);
    request.cancelTimer();
    if (value === null) request.reject(new Error(error ?? 'There is no such secret.'));
    else request.resolve(value);
  }

  return {
    onStart(take) {
      takeStart = take;
    },
    onStop(take) {
      takeStop = take;
    },
    send: (message) => send(message),
    sendLast: (message) => new Promise<void>((resolve) => send(message, resolve)),

    emit(event) {
      if (unsentEvents >= maxUnsentEvents) return void lostEvents++;
      if (lostEvents > 0) reportLoss();
      sendEvent(event);
    },

    getSecret(name) {
      return new Promise((resolve, reject) => {
        if (requests.size >= maxSecretRequests) return reject(new Error('Too many secrets are being requested at once.'));
        const requestId = ++serial;
        const cancelTimer = clock.after(secretTimeoutMs, () => {
          requests.delete(requestId);
          reject(new Error(`The manager did not answer for the secret "${name}" within ${secretTimeoutMs / 1000} s.`));
        });
        requests.set(requestId, { resolve, reject, cancelTimer });
        send({ type: 'secret', requestId, name });
      });
    },
  };
}
