"""Who may ask: whoever knows the key, under the name that stands in a header."""

from langgraph_sdk import Auth

KEY = "the-servers-key"

auth = Auth()


@auth.authenticate
async def who(headers: dict[bytes, bytes]) -> Auth.types.MinimalUserDict:
    """The user that a request is of."""
    if headers.get(b"x-api-key") != KEY.encode():
        raise Auth.exceptions.HTTPException(status_code=401, detail="Unknown key")
    return {"identity": headers.get(b"x-user", b"tester").decode()}
