// Text as a model writes it, without what only an eye can use.

/** Removes Markdown, list bullets, code fences and emoji, and closes up the gaps. Numbers and names are left to the voice. */
export function toSpeakable(text: string): string {
  return text
    .replace(/```[^\n`]*/g, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:#{1,6}\s+|>\s+|[-*+•]\s+)/gm, '')
    .replace(/(\*\*|__|~~|`)/g, '')
    .replace(/(^|[\s("'])[*_](?=\S)/g, '$1')
    .replace(/(\S)[*_](?=[\s.,;:!?)"']|$)/g, '$1')
    .replace(/\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200D|\uFE0F|\u20E3/gu, '')
    .replace(/\s+/g, ' ')
    .replace(/ ([.,;:!?])/g, '$1')
    .trim();
}
