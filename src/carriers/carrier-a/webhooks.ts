// Webhooks of carrier A: parameters in, markup out.
import type { CallAnswer, WebhookDialect, WebhookReply, WebhookRoute } from '../carrier.js';
import { answerMarkup, emptyMarkup } from './markup.js';
import { toMessage } from './messages.js';

/** The webhook words of carrier A. */
export const webhookDialect: WebhookDialect = {
  routes: ['voice', 'status', 'recording', 'amd', 'resume'],

  parse: toMessage,

  answer(answer: CallAnswer): WebhookReply {
    return reply(answerMarkup(answer));
  },

  acknowledge(route: WebhookRoute): WebhookReply {
    return reply(route === 'voice' ? answerMarkup({ type: 'reject' }) : emptyMarkup());
  },
};

function reply(body: string): WebhookReply {
  return { status: 200, contentType: 'text/xml; charset=utf-8', body };
}
