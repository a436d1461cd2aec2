import { PermissionFlagsBits } from 'discord-api-types/v10';

/** The permissions that the bot needs on a server, and no others. */
const permissions = [
  PermissionFlagsBits.ViewChannel,
  PermissionFlagsBits.SendMessages,
  PermissionFlagsBits.SendMessagesInThreads,
  PermissionFlagsBits.ReadMessageHistory,
  PermissionFlagsBits.AttachFiles,
  PermissionFlagsBits.EmbedLinks,
  PermissionFlagsBits.AddReactions,
];
const voicePermissions = [PermissionFlagsBits.Connect, PermissionFlagsBits.Speak];

/** The page on which someone who manages a server can add the bot. */
export const inviteLink = (applicationId: string, hasVoice = false): string =>
  `https://discord.com/oauth2/authorize?${new URLSearchParams({
    client_id: applicationId,
    scope: 'bot applications.commands',
    permissions: String(sumOf(hasVoice ? [...permissions, ...voicePermissions] : permissions)),
  }).toString()}`;

const sumOf = (bits: readonly bigint[]): bigint => bits.reduce((sum, each) => sum | each, 0n);
