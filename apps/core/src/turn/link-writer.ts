import type { Socket } from 'node:net';
import type { UnreadReplies } from '@svc/service-kit/http/unread-replies.ts';
import type { MaskedJson } from '@svc/service-kit/redaction/outbound-mask.ts';

const maxBufferedBytes = 8 * 1024 * 1024;

/**
 * Gathers the lines of one tick into one write; an answer leaves together with the lines made in the same moment. A reader
 * that stops reading is disconnected instead of filling memory.
 */
export function createLinkWriter(socket: Socket, unread: UnreadReplies): (json: MaskedJson, isAnswer: boolean) => void {
  let pending = '';
  const flush = () => {
    if (pending === '') return;
    const text = pending;
    pending = '';
    if (socket.destroyed) return;
    socket.write(text);
    if (socket.writableLength > maxBufferedBytes) socket.destroy();
    else unread.wrote(socket);
  };
  return (json, isAnswer) => {
    if (isAnswer) process.nextTick(flush);
    else if (pending === '') setImmediate(flush);
    pending += `${json}\n`;
  };
}
