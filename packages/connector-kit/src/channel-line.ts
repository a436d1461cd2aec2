/**
 * How the lines begin that connectors put beside what people write, one for each kind. A line of another kind needs one here; `typedText` goes by
 * them. Each is long enough that people seldom begin a line in brackets so: `[Place]` may be a link or a part of a settings file.
 */
export const channelHeads = [
  'Forwarded',
  'In answer to',
  'Reacted with',
  'About a message',
  'The request above',
  'Written',
  'Said by',
  'Voice message',
  'Video message',
  'Photo of',
  'Sent sticker',
  'Sent place',
  'Sent location',
  'Sent live location',
  'Sent contact',
  'Sent poll',
  'Sent dice',
  'Sent list',
  'Sent game',
  'Sent story',
  'Sent media',
  'Sent embed',
  'Sent file',
] as const;

export type ChannelHead = (typeof channelHeads)[number];

/** A line of a connector. `rest`: what follows the head, in one line; it may be what others chose. */
export const channelLine = (head: ChannelHead, rest = ''): string => `[${head}${rest.replaceAll(/\s+/g, ' ')}]`;
