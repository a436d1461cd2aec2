/**
 * The beginnings of lines that connectors add to what people write, one for each kind. Register new kinds here, because `typedText` uses
 * this list. Each is long enough that people seldom begin a bracketed line with it: `[Place]` may be a link or a section of a settings
 * file.
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

/** A line that a connector adds. `rest`: the text after the head, made a single line because others may have chosen it. */
export const channelLine = (head: ChannelHead, rest = ''): string => `[${head}${rest.replaceAll(/\s+/g, ' ')}]`;
