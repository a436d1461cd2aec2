import type { ChatFrame } from '@svc/chat-ui/protocol.ts';
import type { SessionStreamFrame } from '@svc/contract/session.ts';

/** A frame of the core's stream of a conversation, as the chat shows it; null for one that shows nothing. */
export function toChatFrame(frame: SessionStreamFrame): ChatFrame | null {
  switch (frame.type) {
    case 'begin':
      return { ...frame, type: 'inject' };
    case 'end':
      return { ...frame, type: 'done' };
    case 'watching':
      return { type: 'ready' };
    case 'gap':
    case 'forgotten':
      return { type: frame.type };
    case 'segment':
      return null;
    default:
      return frame;
  }
}
