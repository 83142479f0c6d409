    def call_json(self, operation: str, request: str = "{}", /) -> str:
        """Any operation, from the JSON text of a request to that of an answer.

        Raises:
            LoopxError: by its class, as the operation's method does.
        """
        ...

