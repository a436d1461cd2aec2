import type { StreamHandlers } from '@svc/connector-kit/connector.ts';
import { textOf, type HandleResult } from '@svc/contract/turn.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

/**
 * Relays the text of a turn to a reader from whom nothing can be withdrawn. When a turn starts again, its text is held back until it is
 * longer than what the reader has; if it differs, nothing more is sent.
 */
export class ReplyRelay implements StreamHandlers {
  readonly #send: (text: string) => void;
  #sent = '';
  #again = '';
  #mode: 'live' | 'again' | 'apart' = 'live';
  #wasTakenBack = false;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  onDelta(text: string): void {
    if (this.#mode === 'live') this.#pass(text);
    else if (this.#mode === 'again') this.#takeAgain(text);
  }

  onRetract(): void {
    if (this.#sent === '') return;
    this.#wasTakenBack = true;
    this.#mode = 'again';
    this.#again = '';
  }

  /**
   * Sends the rest of the reply: all of it from an engine without deltas, nothing when the reply has changed since.
   * @throws ServiceError when the reader has a different text, and would take it for the whole reply
   */
  finish({ actions, outcome }: HandleResult, messageId: string): void {
    const reply = textOf(actions);
    const goesOn = reply.startsWith(this.#sent);
    if (!goesOn && this.#wasTakenBack && outcome !== 'silent' && outcome !== 'aborted') throw interrupted(messageId);
    this.#pass(goesOn ? reply.slice(this.#sent.length) : '');
  }

  #takeAgain(text: string): void {
    this.#again += text;
    if (this.#again.length <= this.#sent.length) return;
    this.#mode = this.#again.startsWith(this.#sent) ? 'live' : 'apart';
    if (this.#mode === 'live') this.#pass(this.#again.slice(this.#sent.length));
  }

  #pass(text: string): void {
    this.#sent += text;
    this.#send(text);
  }
}

const interrupted = (messageId: string) =>
  new ServiceError(
    'turn_interrupted',
    'The text streamed so far was withdrawn, after a restart or because it contained a secret, and is not the answer. ' +
      `Send the request again with the Idempotency-Key "${messageId}" to get the whole answer.`,
    { details: { code: 'stream_interrupted' } },
  );
