/** A message to publish. */
export interface Publication {
  id: string;
  /** The id of the job that it is about. */
  subject: string;
  /** What it is about, by which consumers select: words with dots between them. */
  routingKey: string;
  type: string;
  contentType: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** A place of a broker that events go to. It connects when it is first used, and again after an outage. */
export interface Publisher {
  /** Resolves when the broker has confirmed that it has the message. */
  publish(message: Publication): Promise<void>;
  close(): Promise<void>;
}
