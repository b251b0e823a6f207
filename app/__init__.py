"""The dashboard's shell: its command, server, navigation, session, and what pages share."""
