from .config import CONFIG_FILE as CONFIG_FILE
from .config import CONFIG_VARIABLE as CONFIG_VARIABLE
from .config import DEFAULT_FIELDS as DEFAULT_FIELDS
from .config import SCHEMES as SCHEMES
from .config import Connection as Connection
from .config import Connections as Connections
from .config import config_folder as config_folder
from .config import connection_to as connection_to
from .config import find_config as find_config
from .config import load_connections as load_connections
from .keys import CONNECTION_KEYS as CONNECTION_KEYS
from .keys import TOP_KEYS as TOP_KEYS
from .opening import OpenedStore as OpenedStore
from .opening import engine_over as engine_over
from .opening import is_shared as is_shared
from .opening import open_connection as open_connection
from .opening import open_store as open_store
from .roles import ROLES as ROLES
from .roles import Role as Role
from .roles import Roles as Roles
from .roles import may as may
from .roles import read_role as read_role
from .roles import read_roles as read_roles

__all__ = [
    "CONFIG_FILE",
    "CONFIG_VARIABLE",
    "CONNECTION_KEYS",
    "DEFAULT_FIELDS",
    "ROLES",
    "SCHEMES",
    "TOP_KEYS",
    "Connection",
    "Connections",
    "OpenedStore",
    "Role",
    "Roles",
    "config_folder",
    "connection_to",
    "engine_over",
    "find_config",
    "is_shared",
    "load_connections",
    "may",
    "open_connection",
    "open_store",
    "read_role",
    "read_roles",
]
